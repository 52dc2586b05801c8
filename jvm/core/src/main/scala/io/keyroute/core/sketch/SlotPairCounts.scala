package io.keyroute.core.sketch

import io.keyroute.proto.v1.SlotPairs

/** Rows between the slots of two consecutive groups: a sparse matrix in open addressing with linear
  * probing, at most half full. Rows of cells for which there is no room are counted together, as left
  * out: while there are none, every cell is exact. Not thread-safe.
  *
  * @param maxCells cells that it holds at most; its arrays grow towards that */
final class SlotPairCounts(maxCells: Int) {

  // The cell + 1; 0 where free.
  private var cells = new Array[Long](16)
  private var counts = new Array[Long](16)
  private var used = 0
  private var without = 0L

  /** @param upstream, downstream slots, not negative */
  def add(upstream: Int, downstream: Int, rows: Long = 1L): Unit =
    addCell((upstream.toLong << 32) + downstream + 1, rows)

  /** Cells that have rows. */
  def size: Int = used

  /** Rows that are in no cell. */
  def leftOut: Long = without

  def rowsOf(upstream: Int, downstream: Int): Long =
    counts(place((upstream.toLong << 32) + downstream + 1))

  /** Adds another matrix, which stays as it is. */
  def merge(other: SlotPairCounts): Unit = {
    val (otherCells, otherCounts, left) = (other.cells, other.counts, other.without)
    otherCells.indices.foreach(i => if (otherCells(i) != 0) addCell(otherCells(i), otherCounts(i)))
    without += left
  }

  /** Adds a message.
    * @throws InvalidSketch if it has slots that are not below so many, or its arrays do not match; then
    *                       nothing is added */
  def addAll(message: SlotPairs, upstreamSlots: Int, downstreamSlots: Int): Unit = {
    SlotPairCounts.check(message, upstreamSlots, downstreamSlots)
    (0 until message.getUpstreamCount).foreach { i =>
      add(message.getUpstream(i), message.getDownstream(i), message.getRows(i))
    }
    without += message.getLeftOut
  }

  /** The message, cells ascending. */
  def toProto: SlotPairs = {
    val places = taken
    message(IndexSort.sort(used, (l, r) => cells(places(l)) > cells(places(r))).map(places(_)))
  }

  /** The message in no order; of more cells than `most` the heaviest, and the others are left out. */
  def heaviest(most: Int): SlotPairs = message(IndexSort.heaviest(taken, most, counts(_)))

  private def taken: Array[Int] = {
    val places = new Array[Int](used)
    var n = 0
    var at = 0
    while (n < used) {
      if (cells(at) != 0) {
        places(n) = at
        n += 1
      }
      at += 1
    }
    places
  }

  private def message(places: Array[Int]): SlotPairs = {
    val builder = SlotPairs.newBuilder()
    var told = 0L
    places.foreach { p =>
      val cell = cells(p) - 1
      builder.addUpstream((cell >>> 32).toInt).addDownstream(cell.toInt).addRows(counts(p))
      told += counts(p)
    }
    builder.setLeftOut(without + counts.sum - told).build()
  }

  private def addCell(cell: Long, rows: Long): Unit = {
    val at = place(cell)
    if (cells(at) == cell) counts(at) += rows
    else if (used >= maxCells) without += rows
    else {
      cells(at) = cell
      counts(at) = rows
      used += 1
      if (used * 2 > cells.length) grow()
    }
  }

  /** Where a cell is, or the free place where it would be. */
  private def place(cell: Long): Int = {
    val last = cells.length - 1
    var at = (KeyHash.of(cell) >>> 32).toInt & last
    while (cells(at) != cell && cells(at) != 0) at = (at + 1) & last
    at
  }

  private def grow(): Unit = {
    val (oldCells, oldCounts) = (cells, counts)
    cells = new Array[Long](oldCells.length * 2)
    counts = new Array[Long](cells.length)
    oldCells.indices.foreach { i =>
      if (oldCells(i) != 0) {
        val at = place(oldCells(i))
        cells(at) = oldCells(i)
        counts(at) = oldCounts(i)
      }
    }
  }
}

object SlotPairCounts {

  /** The most cells that it may be asked to hold. */
  val MaxCells: Int = 1 << 24

  /** @throws InvalidSketch if a message has slots that are not below so many, or its arrays do not
    *                       match */
  def check(message: SlotPairs, upstreamSlots: Int, downstreamSlots: Int): Unit = {
    val size = message.getUpstreamCount
    if (message.getDownstreamCount != size || message.getRowsCount != size)
      throw new InvalidSketch("the arrays of a matrix of slots do not match")
    def outside(slot: Int, slots: Int) = slot < 0 || slot >= slots
    (0 until size).foreach { i =>
      if (
        outside(message.getUpstream(i), upstreamSlots) ||
        outside(message.getDownstream(i), downstreamSlots) || message.getRows(i) < 0
      )
        throw new InvalidSketch(s"cell $i of a matrix of slots is out of range")
    }
  }
}
