package org.apache.spark.sql.keyroute.count

import org.apache.spark.sql.keyroute.plugin.Settings

/** How much each map task counts.
  *
  * @param counters
  *   of each sketch
  * @param slotPairs
  *   cells of the matrix of slots; 0 for no matrix
  * @param sample
  *   k: keys, pairs and the matrix take every k-th row, for k rows
  * @param sampleAfter
  *   rows that a task takes before it begins to take fewer; 0 where it never does
  * @param labels
  *   keys that get a text for people; 0 for none
  */
final case class CountLimits(
    counters: Int,
    slotPairs: Int,
    sample: Int,
    sampleAfter: Int = 0,
    labels: Int = 0
) {

  /** The most counters of a sketch that each of so many map tasks sends to the driver: together about
    * as many as the sketch has, so that a batch of many tasks does not flood it. */
  def countersSent(mapTasks: Int): Int =
    math.max(CountLimits.LeastSent, counters / math.max(1, mapTasks))

  /** The same for the matrix. Tasks differ in their cells, and what is left out is lost, so that they
    * may send more than the driver keeps. */
  def slotPairsSent(mapTasks: Int): Int = math.min(
    slotPairs.toLong,
    math.max(CountLimits.LeastSent.toLong, slotPairs * 4L / math.max(1, mapTasks))
  ).toInt
}

object CountLimits {

  /** Counters that a map task sends at least, if it has so many. */
  val LeastSent: Int = 1024

  def of(setting: String => Option[String]): CountLimits = CountLimits(
    Settings.statisticsCounters.orDefault(setting),
    Settings.statisticsSlotPairs.orDefault(setting),
    Settings.statisticsSample.orDefault(setting),
    Settings.statisticsSampleAfter.orDefault(setting),
    Settings.statisticsLabels.orDefault(setting)
  )
}
