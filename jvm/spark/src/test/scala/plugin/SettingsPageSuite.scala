package org.apache.spark.sql.keyroute.plugin

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

class SettingsPageSuite extends AnyFunSuite {
  test("docs/configuration.md is what the settings say") {
    val page = Iterator.iterate(Path.of("").toAbsolutePath)(_.getParent).takeWhile(_ != null)
      .map(_.resolve("docs/configuration.md")).find(Files.exists(_))
    assert(
      page.map(Files.readString(_)).contains(SettingsPage.markdown),
      "run ./sbt \"spark/runMain org.apache.spark.sql.keyroute.plugin.SettingsPage " +
        "docs/configuration.md\""
    )
  }

  test("every setting is declared once") {
    assert(Settings.all.map(_.key).distinct.size == Settings.all.size)
    assert(Settings.all.forall(_.key.startsWith(Settings.prefix)))
  }
}
