// Takes from a newer Node what Node 20 lacks of ECMAScript, before a package is loaded: what uses it fails as it would there.
for (const [from, names] of [
  [Map, ['groupBy']],
  [Object, ['groupBy']],
  [Array, ['fromAsync']],
  [Promise, ['try', 'withResolvers']],
  [RegExp, ['escape']],
  [Error, ['isError']],
  [JSON, ['rawJSON', 'isRawJSON']],
  [Math, ['f16round', 'sumPrecise']],
  [Uint8Array, ['fromBase64', 'fromHex']],
  [Uint8Array.prototype, ['setFromBase64', 'setFromHex', 'toBase64', 'toHex']],
  [Map.prototype, ['getOrInsert', 'getOrInsertComputed']],
  [WeakMap.prototype, ['getOrInsert', 'getOrInsertComputed']],
  [
    Set.prototype,
    ['difference', 'intersection', 'isDisjointFrom', 'isSubsetOf', 'isSupersetOf', 'symmetricDifference', 'union'],
  ],
  [
    Object.getPrototypeOf(Object.getPrototypeOf([].values())),
    ['drop', 'every', 'filter', 'find', 'flatMap', 'forEach', 'map', 'reduce', 'some', 'take', 'toArray'],
  ],
  [globalThis, ['AsyncDisposableStack', 'DisposableStack', 'Float16Array', 'Iterator', 'SuppressedError', 'WebSocket']],
])
  for (const name of names) delete from[name];
