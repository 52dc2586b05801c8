package org.apache.spark.sql.keyroute.handoff

/** Operators whose state goes by itself: what moved is evicted, or times out, where it is then; and
  * operators that start from a state that they are given. */
class TimedSwitchSuite extends SwitchCells {
  import SwitchTest.spark

  private val plain = Storage.plain
  private val logged = Storage(rocksDb = true, format = 1, changelog = true)
  private val named = Storage(rocksDb = true, format = 2, changelog = true)
  private val hdfs = Storage.hdfs
  private val groups = new GroupStateWorkloads(spark)
  private val processors = new ProcessorWorkloads(spark)

  Seq(
    TimedWorkloads.withinWatermark -> Seq(plain, named, hdfs),
    groups.map(1) -> Seq(logged),
    groups.map(2) -> Seq(hdfs),
    groups.clock -> Seq(named),
    groups.eventTime(1) -> Seq(plain),
    groups.eventTime(2) -> Seq(named, hdfs),
    groups.initial -> Seq(logged, hdfs),
    TimedWorkloads.sessions("append", mergedEarly = false) -> Seq(plain, named, hdfs),
    TimedWorkloads.sessions("append", mergedEarly = true) -> Seq(logged),
    TimedWorkloads.sessions("complete", mergedEarly = false) -> Seq(hdfs),
    processors.clock -> Seq(plain),
    processors.initial -> Seq(logged, named),
    processors.forgetting -> Seq(plain, named),
    TimedWorkloads.windows("append") -> Seq(named, hdfs),
    TimedWorkloads.windows("update") -> Seq(logged),
    TimedWorkloads.windows("complete") -> Seq(plain),
    TimedWorkloads.windows("append", slide = 60) -> Seq(plain),
    TimedWorkloads.windows("update", slide = 60) -> Seq(hdfs),
    TimedWorkloads.windows("complete", slide = 60) -> Seq(named),
    TimedWorkloads.complete -> Seq(hdfs),
    TimedWorkloads.distinct -> Seq(plain),
    TimedWorkloads.limited -> Seq(named)
  ).foreach { case (workload, storages) => storages.foreach(switches(workload, _)) }

  Seq(
    TimedWorkloads.withinWatermark -> hdfs,
    groups.clock -> plain,
    groups.eventTime(2) -> hdfs,
    groups.initial -> plain,
    processors.initial -> plain
  ).foreach { case (workload, storage) => differsUnmoved(workload, storage) }

  // These tell late what they had.
  Seq(
    TimedWorkloads.sessions("append", mergedEarly = false) -> plain,
    TimedWorkloads.sessions("append", mergedEarly = false) -> hdfs,
    TimedWorkloads.windows("append") -> plain
  ).foreach { case (workload, storage) => differsUnmoved(workload, storage, batches = 4) }

  Seq(groups.initial, groups.initialByTime, processors.initial).foreach { workload =>
    test(s"${workload.name}: the query begins with the table") {
      TestDesk.want(TestTables.random(7L, Workloads.Keys))
      val query = new TestQuery(workload, plain)
      query.start()
      query.feed(2)
      query.stop()
      TestDesk.wantNothing()
      query.start()
      query.feed(1)
      query.stop()
      assert(query.wrong == Nil && TestDesk.switches.map(_.batch) == Seq(0L))
      val tables = TestTables.random(7L, Workloads.Keys)(TestDesk.started.head)
      val (elsewhere, rows) = query.misplaced(query.table(tables), workload.variables.head)
      assert(elsewhere.isEmpty && query.stateRows.contains(rows))
    }
  }

  Seq(
    groups.eventTime(2) -> hdfs,
    TimedWorkloads.sessions("append", mergedEarly = false) -> named,
    TimedWorkloads.sessions("append", mergedEarly = false) -> hdfs
  ).foreach { case (workload, storage) =>
    test(s"${workload.name}, $storage: a run's first batch reads the state from the checkpoint") {
      val query = new TestQuery(workload, storage)
      query.start()
      query.feed(3)
      query.stop()
      TestDesk.want(TestTables.random(7L, Workloads.Keys))
      query.start()
      query.feed(2)
      query.stop()
      assert(query.wrong == Nil)
      assert(TestDesk.switches.map(s => (s.batch, s.pulled)) == Seq((3L, true)))
      val tables = TestTables.random(7L, Workloads.Keys)(TestDesk.started.head)
      val (elsewhere, rows) = query.misplaced(query.table(tables), None)
      assert(elsewhere.isEmpty && query.stateRows.contains(rows))
    }
  }
}
