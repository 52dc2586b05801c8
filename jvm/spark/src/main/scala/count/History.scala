package org.apache.spark.sql.keyroute.count

import org.apache.spark.sql.keyroute.plugin.Settings

/** How much of the past a run keeps.
  *
  * @param periodRows
  *   input rows after which a period is closed
  * @param periods
  *   closed periods that are kept
  * @param settleMs
  *   time from a batch's end until it is closed, for reports that are on their way
  * @param slotPairs
  *   cells of a period's matrix of slots, for each edge
  * @param sources
  *   whether it is kept which source partitions keys come from
  * @param labels
  *   keys of each group that have a text for people; 0 keeps no text
  * @param resetOnSwitch
  *   whether a change of tables forgets what was counted before
  */
final case class History(
    periodRows: Long,
    periods: Int,
    settleMs: Long = 500,
    slotPairs: Int = 65536,
    sources: Boolean = true,
    labels: Int = 0,
    resetOnSwitch: Boolean = false
)

object History {

  def of(setting: String => Option[String]): History = History(
    Settings.statisticsPeriodRows.in(setting),
    Settings.statisticsPeriods.in(setting),
    slotPairs = Settings.statisticsSlotPairs.in(setting),
    sources = Settings.statisticsSources.in(setting),
    labels = Settings.statisticsLabels.in(setting),
    resetOnSwitch = Settings.statisticsResetOnSwitch.in(setting)
  )
}
