import Dependencies._

ThisBuild / organization := "io.keyroute"
ThisBuild / version := "0.1.0"
ThisBuild / scalaVersion := Dependencies.scala
ThisBuild / semanticdbEnabled := true
ThisBuild / semanticdbVersion := "4.14.2"

// The Spark that is compiled against: a minor version of PySpark, found in the virtual environment.
val sparkVersion = settingKey[String]("Spark's version, as pyspark has it")
val sparkJars = settingKey[File]("folder of the jars that pyspark ships")

ThisBuild / sparkJars := {
  val home = sys.env.get("SPARK_HOME").map(file).getOrElse {
    val sitePackages = ((ThisBuild / baseDirectory).value / ".venv" / "lib" * "python3*").get()
    sitePackages.headOption.map(_ / "site-packages" / "pyspark")
      .getOrElse(sys.error("no .venv: run `make check-python` first, or set SPARK_HOME to a PySpark folder"))
  }
  home / "jars"
}

ThisBuild / sparkVersion := {
  val name = "spark-core_2\\.13-(.+)\\.jar".r
  sparkJars.value.list().toSeq.collectFirst { case name(v) => v }
    .getOrElse(sys.error(s"no spark-core jar in ${sparkJars.value}"))
}

val sparkMinor = Def.setting(sparkVersion.value.split('.').take(2).mkString("."))

val common = Seq(
  scalacOptions ++= Seq("-deprecation", "-feature", "-unchecked", "-Xlint:_,-byname-implicit",
    "-Wunused", "-Werror", "-release", "17", "-encoding", "utf8",
    // Generated protobuf classes and Spark's own deprecations are not ours to mend.
    "-Wconf:src=src_managed/.*:s"),
  Test / fork := true,
  // Tests are short: what the second compiler makes of their code comes too late (a quarter of the
  // CPU time). Hadoop starts a process for each local file's permissions.
  Test / javaOptions ++= Seq("-Xmx2g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
    "-Djdk.lang.Process.launchMechanism=VFORK") ++ javaModuleOptions,
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

lazy val spark = (project in file("jvm/spark"))
  .dependsOn(core % "compile->compile;test->test")
  .settings(common)
  .settings(
    name := s"keyroute-spark-${sparkMinor.value}",
    libraryDependencies ++= Seq(protobufJson, scalatest, scalacheck, scalatestScalacheck),
    Compile / unmanagedJars ++= (sparkJars.value * "*.jar").classpath,
    Test / unmanagedJars ++= (sparkJars.value * "*.jar").classpath,
    // A process for each folder of suites: those of one share a Spark session, and a process has one.
    Test / testGrouping := (Test / definedTests).value.groupBy(_.name.split('.').init.last).toSeq
      .sortBy(_._1).map { case (folder, suites) =>
        Tests.Group(folder, suites, Tests.SubProcess((Test / forkOptions).value))
      },
    // What differs between Spark's minor versions.
    Compile / unmanagedSourceDirectories += sourceDirectory.value / "main" / s"spark-${sparkMinor.value}",
    assembly / assemblyJarName := s"keyroute-spark-${sparkMinor.value}_2.13-${version.value}.jar",
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

lazy val bench = (project in file("jvm/bench"))
  .dependsOn(core, spark)
  .enablePlugins(JmhPlugin)
  .settings(common)
  .settings(name := "keyroute-bench", Compile / unmanagedJars ++= (sparkJars.value * "*.jar").classpath)

lazy val root = (project in file("."))
  .aggregate(core, spark, bench)
  .settings(name := "keyroute", publish / skip := true)
