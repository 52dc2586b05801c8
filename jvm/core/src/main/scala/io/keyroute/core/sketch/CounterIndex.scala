package io.keyroute.core.sketch

import java.util.Arrays

/** Finds counters by the hash of their key: open addressing with linear probing over counter
  * numbers, filled to at most two thirds. The keys themselves are elsewhere, so that one index serves
  * keys of any kind. Removal shifts back what follows; there are no tombstones.
  *
  * @param capacity how many counters it must be able to hold; its arrays grow towards that */
private[sketch] final class CounterIndex(capacity: Int) {

  // Counter + 1; 0 where free.
  private var places = new Array[Int](16)
  private var hashes = new Array[Int](math.min(capacity, 8))
  private var size = 0

  def firstPlace(hash: Int): Int =
    (((hash & 0xffffffffL) * places.length) >>> 32).toInt

  def nextPlace(place: Int): Int = if (place + 1 == places.length) 0 else place + 1

  /** The counter at a place, or -1 where it is free. */
  def counterAt(place: Int): Int = places(place) - 1

  /** The hash under which a counter was inserted. */
  def hashOf(counter: Int): Int = hashes(counter)

  /** Adds a counter that is not in the index. */
  def insert(counter: Int, hash: Int): Unit = {
    if (counter >= hashes.length)
      hashes = Arrays.copyOf(hashes, Growth.next(hashes.length, capacity))
    hashes(counter) = hash
    size += 1
    if (size * 3L > places.length * 2L) grow()
    put(counter)
  }

  /** Takes a counter out that is in the index. */
  def remove(counter: Int): Unit = {
    var hole = firstPlace(hashes(counter))
    while (counterAt(hole) != counter) hole = nextPlace(hole)
    var place = nextPlace(hole)
    while (places(place) != 0) {
      val home = firstPlace(hashes(counterAt(place)))
      if (distance(home, place) >= distance(hole, place)) {
        places(hole) = places(place)
        hole = place
      }
      place = nextPlace(place)
    }
    places(hole) = 0
    size -= 1
  }

  private def distance(from: Int, to: Int): Int =
    if (to >= from) to - from else to - from + places.length

  private def put(counter: Int): Unit = {
    var place = firstPlace(hashes(counter))
    while (places(place) != 0) place = nextPlace(place)
    places(place) = counter + 1
  }

  private def grow(): Unit = {
    val held = places.filter(_ != 0)
    places = new Array[Int](Growth.next(places.length, capacity + capacity / 2 + 2))
    held.foreach(c => put(c - 1))
  }
}
