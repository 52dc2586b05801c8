package org.apache.spark.sql.keyroute.plugin

import org.apache.spark.sql.keyroute.place.Placement
import org.apache.spark.sql.keyroute.publish.{NoReconfigurations, Reconfigurations}

/** The parts that live once in a driver, as the planning rule finds them. The plugin installs them;
  * without the plugin (SQL extension set by hand) nothing is placed and no table arrives. */
object Driver {
  @volatile var reconfigurations: Reconfigurations = NoReconfigurations
  @volatile var placement: Option[Placement] = None
}
