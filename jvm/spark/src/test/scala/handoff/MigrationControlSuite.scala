package org.apache.spark.sql.keyroute.handoff

/** For each kind of operator and each provider: where state is not moved, results differ. Those whose
  * rows wait for time have theirs in [[TimedSwitchSuite]]. */
class MigrationControlSuite extends SwitchCells {
  import SwitchTest.spark

  for {
    workload <- Seq(
      Workloads.aggregation,
      Workloads.windowed,
      Workloads.deduplication,
      Workloads.transformWithState(spark)
    )
    storage <- Storage.plain +: (if (workload.rocksDbOnly) Nil else Seq(Storage.hdfs))
  } differsUnmoved(workload, storage)
}
