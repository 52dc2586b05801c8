package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.SparkContext
import org.apache.spark.sql.keyroute.route.BatchDecision

/** A decision whose switch is another than the product made, so that tests see what they find. */
object SwitchEdits {

  /** The batch's switch with other files, and without the look at where rows lie. */
  def files(d: BatchDecision)(edit: HandoffFile => HandoffFile): BatchDecision = {
    val switch = d.route.switch.map { s =>
      SparkContext.getOrCreate().broadcast(s.value.copy(files = s.value.files.map(edit)))
    }
    d.copy(route = d.route.copy(switch = switch, stores = Nil))
  }
}
