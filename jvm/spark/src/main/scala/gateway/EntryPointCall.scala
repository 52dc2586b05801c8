package org.apache.spark.sql.keyroute.gateway

import java.io.{BufferedReader, BufferedWriter}

import scala.util.control.NonFatal

import py4j.commands.AbstractCommand
import py4j.{Protocol, Py4JException, ReturnObject}

/** py4j's call command, for the methods of the entry point and nothing else. Methods are matched by
  * name here, never found by reflection: a token lets a client read, not run code. */
final class EntryPointCall(entryPoint: EntryPoint) extends AbstractCommand {
  commandName = EntryPointCall.Name

  /** @throws py4j.Py4JException
    *   for any other call; the connection closes, so that what follows is not taken for a command
    */
  override def execute(name: String, reader: BufferedReader, writer: BufferedWriter): Unit = {
    val target = reader.readLine()
    val method = reader.readLine()
    val arguments = readArguments(reader)
    if (target != Protocol.ENTRY_POINT_OBJECT_ID) throw refusal(s"object $target")
    writer.write(answer(method, arguments))
    writer.flush()
  }

  private def answer(method: String, arguments: List[String]): String =
    (method, arguments) match {
      case ("protocol", Nil) => output(Int.box(entryPoint.protocol()))
      case ("status", Nil) => output(entryPoint.status())
      case ("statistics", query :: Nil) if Protocol.isString(query) =>
        output(entryPoint.statistics(Protocol.getString(query)))
      case _ => throw refusal(s"method $method with ${arguments.size} arguments")
    }

  private def output(value: => AnyRef): String =
    try Protocol.getOutputCommand(ReturnObject.getPrimitiveReturnObject(value))
    catch { case NonFatal(e) => Protocol.getOutputErrorCommand(s"KeyRoute could not answer: $e") }

  private def readArguments(reader: BufferedReader): List[String] =
    Iterator.continually(reader.readLine())
      .takeWhile(line => !Protocol.isEmpty(line) && !Protocol.isEnd(line))
      .take(EntryPointCall.MostArguments + 1).toList

  private def refusal(what: String): Py4JException =
    new Py4JException(s"refused: $what. This gateway answers protocol(), status() and " +
      "statistics(queryId), and no other command of py4j.")
}

object EntryPointCall {
  val Name: String = "c"
  private val MostArguments = 4
}
