package org.apache.spark.sql.keyroute.handoff

/** Spark's default number of partitions. */
class ManyPartitionsSuite extends SwitchStory {

  // In memory: 200 stores of RocksDB for each side of a join are another test.
  Seq(Workloads.aggregation, new JoinWorkloads(2).of("full_outer")).foreach { workload =>
    test(s"200 partitions: ${workload.name}") {
      withSetting("spark.sql.shuffle.partitions" -> "200") {
        val query = started(Storage.hdfs, workload)
        query.feed(2)
        TestDesk.want(moving)
        query.feed(2)
        query.stop()
        assert(query.wrong == Nil)
        assert(TestDesk.switches.map(_.batch) == Seq(2L) && TestDesk.switches.head.rowsMoved > 0)
        // The switch's files are told to all tasks, and its counts are in its entry.
        assert(query.file("routes/2").length() < 1000000)
      }
    }
  }
}
