package io.keyroute.core.table

/** One version of a query's tables: immutable, its identity is the version and the [[hash]].
  *
  * @param version 0 is reserved for "no table": Spark's own routing
  * @param groups ascending by group id; a group that is left out has the empty table
  * @param parts part of each partition (n entries, or none: partition i is part i) */
final class RoutingTables private (
    val version: Long,
    val queryId: String,
    val groups: IndexedSeq[GroupTable],
    val parts: IndexedSeq[Int]
) extends Serializable {

  /** Lower-case hex SHA-256 of the serialised tables. Computed once, where it is first asked for. */
  lazy val hash: String = ContentHash.sha256(TableCodec.encode(this))

  /** Whether every key goes where Spark would send it, as under version 0. */
  def isEmpty: Boolean = groups.forall(_.isEmpty)

  /** Explicit entries of all groups. */
  def entries: Long = groups.map(_.entries.toLong).sum

  /** The table of a group, where this version holds one. */
  def table(group: Long): Option[GroupTable] = groups.find(_.shape.group == group)

  /** The table of a group of the query: the empty one where this version holds none. */
  def tableFor(shape: GroupShape): GroupTable =
    table(shape.group).getOrElse(GroupTable.empty(shape))

  /** Whether these tables fit a query with the given groups; else a sentence that says why not. */
  def check(shapes: Seq[GroupShape]): Either[String, Unit] = {
    val known = shapes.map(s => s.group -> s).toMap
    val problem = groups.iterator.flatMap { table =>
      known.get(table.shape.group) match {
        case Some(shape) => shape.mismatch(table.shape).map(m => s"a mismatch in $m")
        case None => Some(s"the query has no routing group ${table.shape.group}")
      }
    }.nextOption()
    problem.map(p => s"version $version does not fit the query: $p").toLeft(())
  }

  /** Whether these tables were made for the query; else a sentence that says so. */
  def checkQuery(id: String): Either[String, Unit] =
    Either.cond(id == queryId, (), s"version $version was made for query $queryId, not for $id")

  override def equals(other: Any): Boolean = other match {
    case that: RoutingTables =>
      version == that.version && queryId == that.queryId && groups == that.groups &&
      parts == that.parts
    case _ => false
  }

  override def hashCode: Int = (version, queryId, groups, parts).hashCode

  override def toString: String = s"RoutingTables(version $version of $queryId, $entries entries)"
}

object RoutingTables {

  /** Version 0: no table. */
  def empty(queryId: String, shapes: Seq[GroupShape]): RoutingTables =
    apply(0L, queryId, shapes.map(GroupTable.empty), IndexedSeq.empty)

  /** Puts tables together; groups in any order.
    * @throws InvalidTable if the version is negative, a group comes twice, or `parts` does not have
    *                      an entry for each partition */
  def apply(
      version: Long,
      queryId: String,
      groups: Seq[GroupTable],
      parts: Seq[Int]
  ): RoutingTables = {
    val sorted = groups.sortBy(_.shape.group).toVector
    if (version < 0) throw new InvalidTable(s"the version $version is negative")
    sorted.lazyZip(sorted.drop(1)).find { case (a, b) => a.shape.group == b.shape.group }.foreach {
      case (twice, _) => throw new InvalidTable(s"group ${twice.shape.group} has two tables")
    }
    checkParts(parts, sorted.map(_.shape.partitions).maxOption)
    new RoutingTables(version, queryId, sorted, parts.toVector)
  }

  private def checkParts(parts: Seq[Int], partitions: Option[Int]): Unit =
    if (parts.nonEmpty) {
      partitions.filter(_ != parts.size).foreach { n =>
        throw new InvalidTable(s"parts are given for ${parts.size} partitions, but there are $n")
      }
      parts.find(p => p < 0 || p >= parts.size).foreach { p =>
        throw new InvalidTable(
          s"part ${Integer.toUnsignedString(p)} does not exist: ${parts.size} partitions have at " +
            s"most ${parts.size} parts"
        )
      }
    }
}
