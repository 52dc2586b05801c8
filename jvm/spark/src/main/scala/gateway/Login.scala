package org.apache.spark.sql.keyroute.gateway

import java.io.{BufferedReader, IOException}
import java.net.Socket
import java.util.concurrent.TimeUnit.MILLISECONDS

/** The first two lines of a connection, py4j's command `A` and the token, before they are believed.
  * Only looks at them: py4j reads and checks them afterwards.
  *
  * @param reader
  *   of the socket; nothing was read from it yet
  */
private[gateway] final class Login(socket: Socket, reader: BufferedReader) {

  /** Whether two lines of bounded length came in time; however slowly their letters come, the time is
    * that of all together. Where it answers true, the reader is back at its start. */
  def hasComeWithin(limitMs: Int): Boolean =
    try {
      val usual = socket.getSoTimeout
      val deadline = System.nanoTime() + MILLISECONDS.toNanos(limitMs.toLong)
      reader.mark(Login.MostLetters)
      var lines = 0
      var letters = 0
      var ended = false
      while (lines < 2 && letters < Login.MostLetters && !ended) {
        val left = (deadline - System.nanoTime()) / 1000000
        socket.setSoTimeout(math.max(1L, left).toInt)
        val letter = if (left > 0) reader.read() else -1
        if (letter == '\n') lines += 1
        ended = letter < 0
        letters += 1
      }
      socket.setSoTimeout(usual)
      if (lines == 2) reader.reset()
      lines == 2
    } catch { case _: IOException => false } // a time-out too
}

private object Login {
  // A token has 64; more than fits a line of secrets of any kind.
  val MostLetters: Int = 8192
}
