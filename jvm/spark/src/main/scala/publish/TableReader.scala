package org.apache.spark.sql.keyroute.publish

import java.io.ByteArrayOutputStream
import java.util.UUID

import io.keyroute.core.table.{GroupShape, InvalidTable, RoutingTables, TableCodec}

/** Reads published tables and judges them. */
private[publish] final class TableReader(session: ZooKeeperSession, tree: ZooKeeperTree) {

  /** The tables, or a sentence that says why they cannot be used. Throws only where ZooKeeper does
    * not answer. */
  def read(query: UUID, wanted: TableRef, shapes: Seq[GroupShape]): Either[String, RoutingTables] =
    try judge(query, wanted, shapes)
    catch {
      case e: InvalidTable => Left(e.getMessage)
      case e: InvalidPayload => Left(e.getMessage)
    }

  private def judge(
      query: UUID,
      wanted: TableRef,
      shapes: Seq[GroupShape]
  ): Either[String, RoutingTables] = for {
    node <- session.read(tree.tableMeta(query, wanted.version))
      .toRight(s"version ${wanted.version} is not published: it has no meta")
    meta = Payloads.readTableMeta(node.data)
    _ <- check(meta, wanted)
    bytes <- chunks(query, meta)
    tables = TableCodec.decode(bytes, Some(wanted.hash))
    _ <- Either.cond(
      tables.version == wanted.version,
      (),
      s"the tables under version ${wanted.version} say that they are version ${tables.version}"
    )
    _ <- tables.checkQuery(query.toString)
    _ <- tables.check(shapes)
  } yield tables

  private def check(meta: TableMeta, wanted: TableRef): Either[String, Unit] =
    if (meta.version != wanted.version || meta.hash != wanted.hash) {
      Left(s"version ${wanted.version} with the hash ${wanted.hash} is wanted, but version " +
        s"${meta.version} with the hash ${meta.hash} is published")
    } else if (meta.chunks < 0 || meta.bytes < 0 || meta.bytes > TableReader.MostBytes) {
      Left(s"version ${meta.version} claims ${meta.bytes} bytes in ${meta.chunks} chunks; at " +
        s"most ${TableReader.MostBytes} bytes are taken")
    } else Right(())

  private def chunks(query: UUID, meta: TableMeta): Either[String, Array[Byte]] = {
    val joined = new ByteArrayOutputStream()
    var problem = Option.empty[String]
    var i = 0
    while (i < meta.chunks && problem.isEmpty) {
      session.read(tree.chunk(query, meta.version, i)) match {
        case None =>
          problem = Some(s"chunk $i of ${meta.chunks} of version ${meta.version} is gone")
        case Some(_) if joined.size > meta.bytes => problem = Some(oversized(meta))
        case Some(node) => joined.write(node.data)
      }
      i += 1
    }
    problem.toLeft(joined.toByteArray)
  }

  private def oversized(meta: TableMeta): String =
    s"the chunks of version ${meta.version} hold more than the ${meta.bytes} bytes that meta names"
}

private[publish] object TableReader {
  // A million entries take some 15 MB.
  val MostBytes: Long = 256L << 20
}
