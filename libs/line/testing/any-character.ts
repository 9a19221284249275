import fc from 'fast-check';

/** Any code point except surrogates. fast-check's own arbitrary takes more than a second to build. */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7_ff }), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
  .map((point) => String.fromCodePoint(point));
