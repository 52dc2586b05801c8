package org.apache.spark.sql.keyroute.handoff

/** Each kind of operator on each kind of state; [[TimedSwitchSuite]] has those that forget. */
class SwitchMatrixSuite extends SwitchCells {
  import SwitchTest.spark

  for {
    workload <- Seq(
      Workloads.aggregation,
      Workloads.windowed,
      Workloads.deduplication,
      Workloads.transformWithState(spark)
    )
    storage <- Storage.rocksDbs ++ (if (workload.rocksDbOnly) Nil else Seq(Storage.hdfs))
  } switches(workload, storage)
}
