package org.apache.spark.sql.keyroute.route

import org.apache.spark.sql.types.DataType

/** The types of an exchange key's columns. Shapes and plans have them as DDL. */
object KeyTypes {

  def ofDdl(ddl: Seq[String]): Seq[DataType] = ddl.map(DataType.fromDDL)

  /** Whether columns of these types hash alike. A nested column may be nullable on one side only, as of
    * a join or where an initial state gives it, and have another name. */
  def alike(a: Seq[DataType], b: Seq[DataType]): Boolean =
    a.size == b.size && a.zip(b).forall { case (x, y) =>
      DataType.equalsStructurally(x, y, ignoreNullability = true)
    }
}
