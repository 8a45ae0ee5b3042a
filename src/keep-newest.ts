/** Puts an entry into a map as its newest, and drops the oldest ones beyond `most`: a cache that forgets by age of writing. */
export function keepNewest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
