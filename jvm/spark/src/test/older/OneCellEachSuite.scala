package org.apache.spark.sql.keyroute.handoff

/** One cell for each operator, on every kind of state in turn: what is tested always on a Spark that
  * is not the newest. All other suites run there on demand. */
class OneCellEachSuite extends SwitchCells {
  import SwitchTest.spark

  private val groups = new GroupStateWorkloads(spark)
  private val logged = Storage.plain.copy(changelog = true)
  private val named = logged.copy(format = 2)

  Seq(
    Workloads.aggregation -> Storage.plain,
    Workloads.windowed -> Storage.hdfs,
    Workloads.deduplication -> logged,
    TimedWorkloads.withinWatermark -> named,
    TimedWorkloads.distinct -> Storage.plain,
    TimedWorkloads.sessions("append", mergedEarly = false) -> logged,
    groups.map(2) -> Storage.hdfs,
    groups.eventTime(2) -> named,
    Workloads.transformWithState(spark) -> named
  ).foreach { case (workload, storage) => switches(workload, storage) }

  Seq("inner" -> 2, "full_outer" -> JoinFormats.newest).foreach { case (kind, format) =>
    val workload = new JoinWorkloads(format).of(kind)
    test(s"${workload.name}: there, on after a restart, and back") {
      thereAndBack(workload, logged)((_, _, _) => ())
    }
  }
}
