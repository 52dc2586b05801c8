package org.apache.spark.sql.keyroute.handoff

/** The rows of one store of one source partition that go to one target.
  *
  * @param offset
  *   of the segment in the file, with its length, in bytes
  * @param checksum
  *   sum of the rows' 64-bit hashes: the same whatever the order of rows
  */
final case class HandoffSegment(
    target: Int,
    offset: Long,
    length: Long,
    rows: Long,
    checksum: Long
)

/** All that moves out of one store of one source partition. */
final case class HandoffFile(
    operator: Long,
    store: String,
    source: Int,
    path: String,
    segments: Seq[HandoffSegment]
)

/** The change of tables that a batch makes.
  *
  * @param files
  *   one for each store and source partition, also where nothing moves out
  */
final case class Switch(fromVersion: Long, toVersion: Long, files: Seq[HandoffFile])
