package org.apache.spark.sql.keyroute.handoff

/** Keys of every type that Spark groups by, and keys that are long, few, or many: exchange and state
  * agree on where each lies, by its own entry and by its slot. */
class KeySwitchSuite extends SwitchStory {
  import KeyWorkloads._

  private val logged = Storage(rocksDb = true, format = 1, changelog = true)
  private val named = logged.copy(format = 2)

  /** Half of the keys have entries. */
  private def moves(kind: KeyKind, storage: Storage, keys: Int = Workloads.Keys.size): Unit = {
    val fingerprints = withSetting(kind.settings.toSeq: _*)(KeyWorkloads.fingerprints(kind, keys))
    val entries = fingerprints.sorted.take((fingerprints.size + 1) / 2)
    val workload = aggregation(kind, keys)
    thereAndBack(workload, storage, TestTables.ofFingerprints(7L, entries)) { (query, tables, _) =>
      withSetting(kind.settings.toSeq: _*) {
        val (elsewhere, rows) = query.misplaced(query.table(tables), None)
        assert(elsewhere.isEmpty && query.stateRows.contains(rows))
      }
    }
  }

  Seq(
    numbers -> Storage.plain,
    decimals -> Storage.hdfs,
    times -> named,
    nested -> logged,
    maps -> Storage.hdfs
  ).foreach { case (kind, storage) =>
    test(s"${kind.name}, $storage")(moves(kind, storage))
  }

  test("keys of a megabyte")(moves(long, named, keys = 6))

  switches(signedZeros, Storage.plain)

  test("more partitions than keys: most stores are empty, before and after") {
    withSetting("spark.sql.shuffle.partitions" -> "13")(moves(few, Storage.plain, keys = 5))
  }
}
