import Dependencies._

ThisBuild / organization := "io.keyroute"
ThisBuild / version := "0.1.0"
ThisBuild / scalaVersion := Dependencies.scala
ThisBuild / semanticdbEnabled := true
ThisBuild / semanticdbVersion := "4.14.2"

// The Spark that is compiled against: a minor version of PySpark, found where the Makefile puts it.
val sparkMinor = settingKey[String]("minor version of Spark that a module is for")
val sparkPlace = settingKey[File]("where the Makefile installs that PySpark; it may not be there yet")
val sparkJars = taskKey[File]("folder of the jars that it ships")

/** SPARK_HOME, if it is of this minor version, or else the Makefile's place. */
def jarsOf(minor: String, place: File): File = {
  def isOf(folder: File) = (folder * s"spark-core_2.13-$minor.*.jar").get().nonEmpty
  val places = (sys.env.get("SPARK_HOME").map(file).toSeq :+ place).map(_ / "jars")
  places.find(isOf).getOrElse(throw new MessageOnlyException(
    s"no Spark $minor in ${places.mkString(" or ")}: run `make pyspark`, or set SPARK_HOME to the " +
      s"folder of a PySpark $minor"))
}

// A process of tests waits as much as it works: two keep two cores busy.
Global / concurrentRestrictions :=
  Seq(Tags.limitAll(2), Tags.limit(Tags.ForkedTestGroup, 2), Tags.exclusiveGroup(Tags.Clean))

val common = Seq(
  scalacOptions ++= Seq("-deprecation", "-feature", "-unchecked", "-Xlint:_,-byname-implicit",
    "-Wunused", "-release", "17", "-encoding", "utf8",
    // A warning is an error, but for generated protobuf classes, which are not ours to mend. Scalafix
    // takes away -Werror, and what ends with an error, and then all is compiled twice: hence this order.
    "-Wconf:any:e,src=src_managed/.*:s"),
  Test / fork := true,
  // Tests are short: what the second compiler makes of their code comes too late (a quarter of the
  // CPU time). The first alone has 48 MB for it, which Spark fills: then code is thrown away and made
  // anew. Hadoop starts a process for each local file's permissions.
  Test / javaOptions ++= Seq("-Xmx2g", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m",
    "-XX:+UseSerialGC", "-Djdk.lang.Process.launchMechanism=VFORK") ++ javaModuleOptions,
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oD")
)

// What Spark's own launcher opens of the JDK.
val javaModuleOptions = Seq("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net",
  "java.nio", "java.util", "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch",
  "sun.nio.cs", "sun.security.action", "sun.util.calendar")
  .map(p => s"--add-opens=java.base/$p=ALL-UNNAMED") :+ "-Djdk.reflect.useDirectMethodHandle=false"

lazy val core = (project in file("jvm/core"))
  .settings(common)
  .settings(
    name := "keyroute-core",
    libraryDependencies ++= Seq(protobufJava, scalatest, scalacheck, scalatestScalacheck),
    Compile / PB.protoSources := Seq((ThisBuild / baseDirectory).value / "proto"),
    Compile / PB.protocVersion := Dependencies.protobuf,
    Compile / PB.targets := Seq(PB.gens.java(Dependencies.protobuf) -> (Compile / sourceManaged).value)
  )

/** The plugin for one minor version of Spark: the same sources for all, but for the folders that are
  * named after it, and classes of its own, so that none is compiled anew for the other. */
def plugin(minor: String, place: File => File)(project: Project): Project = project
  .dependsOn(core % "compile->compile;test->test")
  .settings(common)
  .settings(
    name := s"keyroute-spark-$minor",
    sparkMinor := minor,
    sparkPlace := place((ThisBuild / baseDirectory).value),
    sparkJars := jarsOf(sparkMinor.value, sparkPlace.value),
    sourceDirectory := (ThisBuild / baseDirectory).value / "jvm" / "spark" / "src",
    libraryDependencies ++= Seq(protobufJson, scalatest, scalacheck, scalatestScalacheck),
    Compile / unmanagedJars ++= (sparkJars.value * "*.jar").classpath,
    Test / unmanagedJars ++= (sparkJars.value * "*.jar").classpath,
    // A process for each folder of suites: those of one share a Spark session, and a process has one.
    // The folder that takes longest has two, and goes first: two processes run at once.
    Test / testGrouping := (Test / definedTests).value.groupBy { suite =>
      val folder = suite.name.split('.').init.last
      if (folder == "handoff") s"$folder ${Math.floorMod(suite.name.hashCode, 2)}" else folder
    }.toSeq.sortBy { case (group, _) => (!group.startsWith("handoff"), group) }
      .map { case (group, suites) =>
        Tests.Group(group, suites, Tests.SubProcess((Test / forkOptions).value))
      },
    // What differs between Spark's minor versions.
    Compile / unmanagedSourceDirectories += sourceDirectory.value / "main" / s"spark-$minor",
    Test / unmanagedSourceDirectories += sourceDirectory.value / "test" / s"spark-$minor",
    assembly / assemblyJarName := s"keyroute-spark-${minor}_2.13-${version.value}.jar",
    assembly / assemblyOutputPath := (ThisBuild / baseDirectory).value / "target" / (assembly / assemblyJarName).value,
    assembly / assemblyOption ~= { _.withIncludeScala(false) },
    assembly / assemblyExcludedJars := {
      val spark = sparkJars.value
      (assembly / fullClasspath).value.filter(_.data.getParentFile == spark)
    },
    assembly / assemblyShadeRules := Seq(
      ShadeRule.rename("com.google.protobuf.**" -> "io.keyroute.shaded.protobuf.@1").inAll),
    assembly / assemblyMergeStrategy := {
      case "module-info.class" => MergeStrategy.discard
      case p if p.startsWith("META-INF/") && !p.startsWith("META-INF/services/") => MergeStrategy.discard
      case p if p.endsWith(".proto") => MergeStrategy.discard
      case p => MergeStrategy.defaultMergeStrategy(p)
    }
  )

lazy val spark = (project in file("jvm/spark"))
  .configure(plugin("4.3", base => (base / ".venv" / "lib" * "python3*").get().headOption
    .getOrElse(base / ".venv") / "site-packages" / "pyspark"))

/** The newest is tested in full; of others what [[OneCellEachSuite]] has, unless `-Dtests=all`. */
lazy val spark42 = (project in file("jvm/spark-4.2"))
  .configure(plugin("4.2", _ / ".pyspark-4.2" / "pyspark"), older)

def older(project: Project): Project = project.settings(
  Test / unmanagedSourceDirectories += sourceDirectory.value / "test" / "older",
  Test / testOptions ++=
    (if (sys.props.get("tests").contains("all")) Nil else Seq(Tests.Filter(_.endsWith(".OneCellEachSuite")))),
  // The shared sources are the newest's to look after.
  semanticdbEnabled := false,
  Seq(Compile, Test).map { in =>
    in / scalafmt / unmanagedSources := {
      val own = Set(s"/spark-${sparkMinor.value}/", "/older/")
      (in / unmanagedSources).value.filter(file => own.exists(file.getPath.contains(_)))
    }
  }
)

lazy val bench = (project in file("jvm/bench"))
  .dependsOn(core, spark)
  .enablePlugins(JmhPlugin)
  .settings(common)
  .settings(name := "keyroute-bench", Compile / unmanagedJars ++= ((spark / sparkJars).value * "*.jar").classpath)

lazy val root = (project in file("."))
  .aggregate(core, spark, bench)
  .settings(name := "keyroute", publish / skip := true)
