package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.sql.keyroute.plugin.Driver
import org.apache.spark.sql.keyroute.route.BatchDecision

import io.keyroute.spark.KeyRouteExtension

/** The control of all tests of switches: rows go by the new tables and the state stays where it is.
  * A test that does not see the difference sees nothing. */
object MigrationOff {

  /** The batch's switch without anything that moves, and without the look at where rows lie. */
  def unmoved(d: BatchDecision): BatchDecision = SwitchEdits.files(d)(_.copy(segments = Nil))
}

/** For an application that a test starts, in place of the plugin: its queries are told what to switch
  * to by [[TestDesk]], and no state is moved. */
final class MigrationOffExtension extends KeyRouteExtension({ _ =>
      Driver.reconfigurations = TestDesk
      TestDecider.change = MigrationOff.unmoved
      TestDecider
    })
