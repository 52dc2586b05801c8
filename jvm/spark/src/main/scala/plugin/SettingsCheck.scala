package org.apache.spark.sql.keyroute.plugin

import org.apache.spark.SparkConf

/** Refuses what a user surely did not mean: a key that does not exist, a value that cannot be
  * read, two settings that contradict each other. */
object SettingsCheck {

  /** @throws IllegalArgumentException
    *   that names the keys and, where one is near, the key that was meant
    */
  def check(conf: SparkConf): Unit = {
    val keys = Settings.all.map(_.key)
    conf.getAll.map(_._1).filter(_.startsWith(Settings.prefix)).sorted
      .find(!keys.contains(_))
      .foreach(key => throw new IllegalArgumentException(unknown(key, keys)))
    Settings.all.foreach(_.in(conf.getOption))
    if (
      Settings.stressBatches.in(conf.getOption) > 0 &&
      Settings.zookeeperConnect.in(conf.getOption).nonEmpty
    ) throw new IllegalArgumentException(
      s"${Settings.stressBatches.key} makes the driver itself decide which tables are wanted, with " +
        s"${Settings.zookeeperConnect.key} it is a controller that does: set one of them only"
    )
  }

  private def unknown(key: String, keys: Seq[String]): String = {
    val nearest = keys.minBy(distance(key, _))
    // Beyond a third of the part that differs between keys, a guess would be noise.
    val near = distance(key, nearest) <= math.max(2, (nearest.length - Settings.prefix.length) / 3)
    val hint =
      if (near) s"did you mean $nearest?"
      else s"the settings are ${keys.mkString(", ")}"
    s"$key is not a setting of KeyRoute: $hint"
  }

  /** Levenshtein's distance: letters to insert, drop or change. */
  private[plugin] def distance(a: String, b: String): Int = {
    val first = (0 to b.length).toVector
    a.zipWithIndex.foldLeft(first) { case (above, (letter, i)) =>
      b.indices.scanLeft(i + 1) { (left, j) =>
        val change = above(j) + (if (letter == b(j)) 0 else 1)
        math.min(change, math.min(left, above(j + 1)) + 1)
      }.toVector
    }.last
  }
}
