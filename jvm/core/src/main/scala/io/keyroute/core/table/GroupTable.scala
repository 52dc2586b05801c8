package io.keyroute.core.table

import java.util.Arrays

/** The routing table of one group:
  *
  * {{{
  * route(key) = explicit[fingerprint(key)]       if present
  *            = slotOwner[pmod(sparkHash(key), S)] otherwise
  * }}}
  *
  * S is a multiple of n and the default owner of slot s is s mod n, so the empty table is Spark's
  * own routing, bit for bit. Immutable; goes by broadcast (primitive arrays, 16 bytes an entry).
  *
  * @param owners S entries, or none where every slot has its default owner */
final class GroupTable private (
    val shape: GroupShape,
    val explicit: KeyTable,
    private val owners: Array[Int]
) extends Serializable {

  private val slots = shape.slots
  private val partitions = shape.partitions
  // Distinguishes the two on the hot path without a second array.
  private val defaultOwners = owners.length == 0

  /** The partition, in [0, n), of a key.
    * @param hash Spark's Murmur3 (seed 42) of the whole exchange key
    * @param fingerprint Spark's XXH64 (seed 42) of the routing columns */
  def route(hash: Int, fingerprint: Long): Int = {
    val target = explicit.lookup(fingerprint)
    if (target >= 0) target else routeBySlot(hash)
  }

  /** The partition of a key that has no explicit entry, as in a group without routing columns. */
  def routeBySlot(hash: Int): Int =
    if (defaultOwners) Math.floorMod(hash, partitions) else owners(slotOf(hash))

  /** The slot of a key, in [0, S). */
  def slotOf(hash: Int): Int = Math.floorMod(hash, slots)

  /** The partition that owns a slot. */
  def ownerOf(slot: Int): Int = if (defaultOwners) slot % partitions else owners(slot)

  /** How many keys have an entry of their own. */
  def entries: Int = explicit.size

  /** The owners as they were given: S entries or none. A fresh array. */
  def slotOwners: Array[Int] = owners.clone()

  /** Whether this routes every key as Spark does. */
  def isEmpty: Boolean = explicit.size == 0 && hasDefaultOwners

  /** Whether every slot has its default owner, stated or not. */
  def hasDefaultOwners: Boolean =
    owners.indices.forall(slot => owners(slot) == slot % partitions)

  override def equals(other: Any): Boolean = other match {
    case that: GroupTable =>
      shape == that.shape && explicit == that.explicit && Arrays.equals(owners, that.owners)
    case _ => false
  }

  override def hashCode: Int =
    31 * (31 * shape.hashCode + explicit.hashCode) + Arrays.hashCode(owners)

  override def toString: String =
    s"GroupTable(group ${shape.group}, $entries entries, default owners: $hasDefaultOwners)"
}

object GroupTable {

  def empty(shape: GroupShape): GroupTable =
    new GroupTable(shape, KeyTable.empty, Array.empty[Int])

  /** Builds a table.
    *
    * @param fingerprints strictly ascending as signed numbers
    * @param targets as long as `fingerprints`, each below n
    * @param slotOwners S entries, each below n; or none
    * @throws InvalidTable with a sentence that names the group */
  def build(
      shape: GroupShape,
      fingerprints: Array[Long],
      targets: Array[Int],
      slotOwners: Array[Int] = Array.empty[Int]
  ): GroupTable = {
    def refuse(problem: String) = throw new InvalidTable(s"group ${shape.group}: $problem")
    if (fingerprints.nonEmpty && shape.routingOrdinals.isEmpty)
      refuse("it has no routing columns, so it cannot have entries for keys")
    if (slotOwners.nonEmpty && slotOwners.length != shape.slots)
      refuse(s"it has ${slotOwners.length} slot owners for ${shape.slots} slots")
    firstOutside(targets, shape.partitions).foreach { i =>
      refuse(s"entry $i goes to partition ${Integer.toUnsignedString(targets(i))} of " +
        s"${shape.partitions}")
    }
    firstOutside(slotOwners, shape.partitions).foreach { slot =>
      refuse(s"slot $slot belongs to partition ${Integer.toUnsignedString(slotOwners(slot))} of " +
        s"${shape.partitions}")
    }
    val explicit =
      try KeyTable.build(fingerprints, targets)
      catch { case e: InvalidTable => refuse(e.getMessage) }
    val table = new GroupTable(shape, explicit, slotOwners.clone())
    if (!shape.stableSlots && !table.hasDefaultOwners)
      refuse("its slots mean other keys in every window, so their owners must stay the default")
    table
  }

  private def firstOutside(targets: Array[Int], partitions: Int): Option[Int] = {
    var i = 0
    while (i < targets.length && targets(i) >= 0 && targets(i) < partitions) i += 1
    if (i < targets.length) Some(i) else None
  }
}
