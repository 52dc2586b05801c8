package org.apache.spark.sql.keyroute.handoff

/** Chains, unions and self-joins: all groups of a query switch in one batch, and what lies without an
  * exchange between it stays together. */
class ChainSwitchSuite extends SwitchCells {
  import ChainWorkloads._

  private val logged = Storage(rocksDb = true, format = 2, changelog = true)

  // With the operators of each group.
  Seq(
    (threeKeys, Storage.plain, Seq(1, 1, 1)),
    (subset, Storage.hdfs, Seq(1, 1)),
    (superset, logged, Seq(1, 1)),
    (sameKey, Storage.plain, Seq(2)),
    (aboveUnion, Storage.hdfs, Seq(3)),
    (ofItself, Storage.hdfs, Seq(3)),
    (betweenOthers, logged, Seq(1, 3))
  ).foreach { case (workload, storage, operators) =>
    test(s"${workload.name}, $storage: there, on after a restart, and back") {
      thereAndBack(workload, storage) { (query, tables, _) =>
        assert(tables.groups.map(_.shape.operators.size) == operators)
        // Below joins, whose state has sides.
        tables.groups.filter(_.shape.operators.size < 3).foreach { table =>
          val (elsewhere, rows) = query.misplaced(table, None)
          assert(elsewhere.isEmpty && rows > 0)
        }
      }
    }
  }
}
