import sbt._

/** Versions of everything the build takes from a repository, in one place.
  *
  * Spark, Scala, Curator, ZooKeeper, py4j and DataSketches are not here: they come with the PySpark
  * that pyproject.toml pins, so that what is compiled against is what runs. */
object Dependencies {
  val scala = "2.13.18"
  val protobuf = "4.33.6"

  val protobufJava = "com.google.protobuf" % "protobuf-java" % protobuf
  val protobufJson = ("com.google.protobuf" % "protobuf-java-util" % protobuf)
    .excludeAll(ExclusionRule("com.google.guava"), ExclusionRule("com.google.code.gson"),
      ExclusionRule("com.google.errorprone"), ExclusionRule("com.google.j2objc"),
      ExclusionRule("com.google.code.findbugs"))

  val scalatest = "org.scalatest" %% "scalatest" % "3.2.20" % Test
  val scalacheck = "org.scalacheck" %% "scalacheck" % "1.18.1" % Test
  val scalatestScalacheck = "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
}
