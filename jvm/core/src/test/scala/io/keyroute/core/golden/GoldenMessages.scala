package io.keyroute.core.golden

import io.keyroute.core.routelog.{BypassedOperator, MovedRows, RouteEntry, RouteEntryCodec, Switch}
import io.keyroute.core.table.{GroupShape, GroupTable, RoutingTables, TableCodec}
import io.keyroute.proto.v1.{
  ApplicationStatus,
  BatchStatus,
  EdgeStatistics,
  GroupStatistics,
  KeySketch,
  MapTaskCounts,
  OperatorStatus,
  PairSketch,
  PartitionPlacement,
  Period,
  Phase,
  QueryStatistics,
  QueryStatus,
  Reconfiguration,
  SlotPairs,
  SwitchStatus
}

/** One message of each kind that crosses languages, with every field set and with the values that
  * codecs get wrong: negative fingerprints, counts above 2^53, texts beyond ASCII. */
object GoldenMessages {

  private val query = "5d3e8c0a-4f5b-4c62-9d0e-2f4a51c7b8e1"
  private val run = "0b8f3a52-77c1-4a3c-8f1e-64d2f8a90c11"
  private val large = (1L << 53) + 1

  val airplanes: GroupShape =
    GroupShape(0, Seq(0), 3, 12, Seq(0), Seq("tailnum"), Seq("STRING"), stableSlots = true)

  val windows: GroupShape = GroupShape(
    2,
    Seq(2, 3),
    3,
    12,
    Seq(1),
    Seq("window", "Strecke→"),
    Seq("STRUCT<start: TIMESTAMP, end: TIMESTAMP>", "STRING"),
    stableSlots = false
  )

  val tables: RoutingTables = RoutingTables(
    7,
    query,
    Seq(
      GroupTable.build(
        airplanes,
        Array(Long.MinValue, -1L, 0L, 1L, Long.MaxValue),
        Array(0, 1, 2, 0, 1),
        Array(0, 1, 2, 0, 1, 2, 2, 1, 0, 0, 1, 2)
      ),
      GroupTable.build(windows, Array(-42L, 42L), Array(2, 2))
    ),
    Seq(1, 0, 2)
  )

  val entry: RouteEntry = RouteEntry(
    query,
    17,
    "ab" * 32,
    tables.version,
    tables.hash,
    Seq(airplanes, windows),
    Seq(BypassedOperator(5, "a streaming limit is not routed")),
    Some(
      Switch(
        6,
        "cd" * 32,
        Seq(
          MovedRows(0, "default", 0, 2, 100, -1L, "0-default-0"),
          MovedRows(3, "default", 2, 1, large, Long.MinValue, "3-default-2")
        )
      )
    )
  )

  private val keys: KeySketch = KeySketch
    .newBuilder()
    .setRows(large + 10)
    .setCapacity(2)
    .addFingerprints(-1L)
    .addFingerprints(1L)
    .addCounts(large)
    .addCounts(7)
    .addErrors(0)
    .addErrors(3)
    .addLabels("N14228")
    .addLabels("Zürich")
    .addSlots(11)
    .addSlots(0)
    .setFloor(3)
    .build()

  private val slotPairs: SlotPairs = SlotPairs
    .newBuilder()
    .addUpstream(0)
    .addUpstream(11)
    .addDownstream(3)
    .addDownstream(0)
    .addRows(5)
    .addRows(large)
    .setLeftOut(7)
    .build()

  private val pairs: PairSketch = PairSketch
    .newBuilder()
    .setRows(12)
    .setCapacity(2)
    .addUpstream(-1L)
    .addUpstream(1L)
    .addDownstream(42L)
    .addDownstream(-42L)
    .addCounts(7)
    .addCounts(5)
    .addErrors(2)
    .addErrors(0)
    .setFloor(2)
    .build()

  val counts: MapTaskCounts = MapTaskCounts
    .newBuilder()
    .setRunId(run)
    .setBatch(17)
    .setGroup(2)
    .setExchange(1)
    .setMapPartition(2)
    .setExecutor("1")
    .addPartitionRows(5)
    .addPartitionRows(0)
    .addPartitionRows(7)
    .setExplicitRows(4)
    .addSlots(3)
    .addSlots(11)
    .addSlotRows(9)
    .addSlotRows(3)
    .setKeys(keys)
    .setUpstreamGroup(-1)
    .setPairs(pairs)
    .setUpstreamKey("attribute")
    .setSlotPairs(slotPairs)
    .setReadsSource(true)
    .build()

  private val period: Period = {
    val builder = Period.newBuilder().setFirstBatch(3).setLastBatch(17).setTableVersion(7)
    val group = GroupStatistics.newBuilder().setShape(airplanes.toProto).setRows(12)
    (0 until 12).foreach(slot => group.addSlotRows(slot.toLong))
    group.addPartitionRows(5).addPartitionRows(0).addPartitionRows(7).setExplicitRows(4)
    val edge = EdgeStatistics.newBuilder().setUpstreamGroup(0).setDownstreamGroup(2).setRows(12)
    edge.setLocalRows(9).setPairs(pairs).setUpstreamKey("name").setSlotPairs(slotPairs)
    (0 until 12).foreach { slot =>
      group.addSlotStateRows(slot.toLong).addSlotStateBytes(100L * slot)
    }
    group.addPartitionMs(900).addPartitionMs(0).addPartitionMs(large).setSources(pairs)
    builder.setRows(12).addGroups(group.setKeys(keys)).addEdges(edge)
    builder.setLocalBytes(1000).setRemoteBytes(large).build()
  }

  val statistics: QueryStatistics = QueryStatistics
    .newBuilder()
    .setFormat(1)
    .setQueryId(query)
    .setRunId(run)
    .setName("flights")
    .addPeriods(period)
    .addPlacement(
      PartitionPlacement.newBuilder().setGroup(2).setPartition(1).setExecutor("0").setHost("::1")
        .setZone("a")
    )
    .setTableVersion(7)
    .setBatch(18)
    .build()

  val reconfiguration: Reconfiguration = Reconfiguration
    .newBuilder()
    .setFormat(1)
    .setPhase(Phase.MIGRATE)
    .setVersion(7)
    .setHash(tables.hash)
    .setBatch(17)
    .setReason("")
    .setBy(run)
    .setUpdatedMs(1764288000000L)
    .setPredictedLocality(0.8125)
    .setPredictedImbalance(1.03)
    .setPredictedMoves(large)
    .build()

  private val queryStatus: QueryStatus = {
    val builder = QueryStatus.newBuilder().setFormat(1).setQueryId(query).setRunId(run)
    builder.setName("flights").setTableVersion(7).setTableHash(tables.hash).setTableSinceBatch(17)
    builder.addGroups(airplanes.toProto).addGroups(windows.toProto)
    builder.addOperators(OperatorStatus.newBuilder().setName("dedupe").setRouted(true))
    builder.addOperators(
      OperatorStatus.newBuilder().setOperator(5).setName("globalLimit").setGroup(5)
        .setReason("a streaming limit is not routed")
    )
    builder.addBatches(
      BatchStatus.newBuilder().setBatch(
        17
      ).setTableVersion(7).setInputRows(12).setDurationMs(900).setEndedMs(1_700_000_000_000L)
        .setEdgeRows(12).setLocalRows(9).setLocalBytes(1000).setRemoteBytes(large)
        .addImbalance(1.25).addImbalance(1.0)
    )
    builder.addSwitches(
      SwitchStatus.newBuilder().setBatch(17).setFromVersion(6).setToVersion(7).setRowsMoved(100)
        .setRowsSeen(1000).setHandoffMs(150).setApplyMs(12).setPulled(true)
    )
    builder.setWaiting("the stores are not loaded yet").setBypass("real-time mode").build()
  }

  val status: ApplicationStatus = ApplicationStatus
    .newBuilder()
    .setFormat(1)
    .setAppId("app-20130101000000-0000")
    .setKeyrouteVersion("0.1.0")
    .setSparkVersion("4.3.0")
    .addQueries(queryStatus)
    .setZookeeperConnected(true)
    .build()

  /** File name to bytes. */
  val files: Seq[(String, Array[Byte])] = Seq(
    "routing_tables.bin" -> TableCodec.encode(tables),
    "route_entry.bin" -> RouteEntryCodec.encode(entry),
    "map_task_counts.bin" -> counts.toByteArray,
    "query_statistics.bin" -> statistics.toByteArray,
    "reconfiguration.bin" -> reconfiguration.toByteArray,
    "application_status.bin" -> status.toByteArray
  )
}
