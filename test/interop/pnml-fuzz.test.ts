import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  fromPnml,
  PnmlFormatError,
  PnmlLimitError,
  PnmlUnsupportedError,
} from '../../src/interop/pnml/index.ts';
import { compile } from '../../src/net/index.ts';
import { toColoredPnml } from '../verify/contest/colored-pnml.ts';
import { toPtPnml } from '../verify/contest/contest-net.ts';
import { erk } from '../verify/contest/other-models.ts';
import {
  coloredPhilosophers,
  coloredReferendum,
  coloredSharedMemory,
  coloredTokenRing,
} from '../verify/contest/protocol-models.ts';

const DOCUMENTS = [
  toPtPnml(erk(2)),
  toColoredPnml(coloredPhilosophers(3)),
  toColoredPnml(coloredReferendum(3)),
  toColoredPnml(coloredSharedMemory(3)),
  toColoredPnml(coloredTokenRing(3)),
];

/** Pieces that a mutation inserts: parts of the language, and parts that are dangerous in other parsers. */
const PIECES = [
  '<',
  '>',
  '"',
  '&',
  '&amp;',
  '&#0;',
  '&x;',
  '</net>',
  '</page>',
  '<page>',
  '<!DOCTYPE x [<!ENTITY a "b">]>',
  '<![CDATA[x]]>',
  '<!-- -->',
  '<?x y?>',
  '<all><usersort declaration="P"/></all>',
  '<dotconstant/>',
  '<subterm/>',
  ' id="__proto__"',
  ' type="inhibitor"',
  '-1',
  '1e999',
  '99999999999',
  'constructor',
  'running(',
  '\u0000',
  '\uD800',
  '🦊',
];

type Mutation =
  | { readonly kind: 'insert'; readonly at: number; readonly piece: string }
  | { readonly kind: 'delete'; readonly at: number; readonly length: number }
  | {
      readonly kind: 'repeat';
      readonly at: number;
      readonly length: number;
      readonly times: number;
    }
  | { readonly kind: 'swap'; readonly at: number; readonly other: number }
  | { readonly kind: 'drop'; readonly at: number };

const position = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({
    kind: fc.constant('insert' as const),
    at: position,
    piece: fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 8 })),
  }),
  fc.record({
    kind: fc.constant('delete' as const),
    at: position,
    length: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({
    kind: fc.constant('repeat' as const),
    at: position,
    length: fc.integer({ min: 1, max: 200 }),
    times: fc.integer({ min: 2, max: 50 }),
  }),
  fc.record({ kind: fc.constant('swap' as const), at: position, other: position }),
  fc.record({ kind: fc.constant('drop' as const), at: position }),
);

function mutate(text: string, change: Mutation): string {
  const at = Math.floor(change.at * text.length);
  switch (change.kind) {
    case 'insert':
      return text.slice(0, at) + change.piece + text.slice(at);
    case 'delete':
      return text.slice(0, at) + text.slice(at + change.length);
    case 'repeat':
      return (
        text.slice(0, at) +
        text.slice(at, at + change.length).repeat(change.times) +
        text.slice(at + change.length)
      );
    case 'swap':
    case 'drop': {
      // These keep the document well-formed more often: they change the name of one tag, or remove one empty element.
      const tags = [...text.matchAll(/<(\w+)([^<>]*)\/>/g)];
      const tag = tags[Math.floor(change.at * tags.length)];
      if (tag === undefined) return text;
      const other = change.kind === 'swap' ? tags[Math.floor(change.other * tags.length)]?.[0] : '';
      return text.slice(0, tag.index) + (other ?? '') + text.slice(tag.index + tag[0].length);
    }
    default:
      return change satisfies never;
  }
}

const LIMITS = { steps: 200_000, places: 2_000, transitions: 2_000, arcs: 20_000 };

/** `unit: 'binary'` has these too, but builds a map of a million strings first. */
const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

test('a mutated document is imported or rejected with a typed error', () => {
  const outcomes = { imported: 0, format: 0, unsupported: 0, limit: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(...DOCUMENTS),
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      (document, mutations) => {
        try {
          const { net } = fromPnml(mutations.reduce(mutate, document), { limits: LIMITS });
          compile(net);
          outcomes.imported++;
        } catch (error) {
          if (error instanceof PnmlFormatError) outcomes.format++;
          else if (error instanceof PnmlUnsupportedError) outcomes.unsupported++;
          else if (error instanceof PnmlLimitError) outcomes.limit++;
          else throw error;
        }
      },
    ),
    { numRuns: Number(process.env['PNML_RUNS'] ?? 600), seed: 1 },
  );
  assert.ok(
    outcomes.imported > 0 && outcomes.format > 0 && outcomes.unsupported > 0,
    JSON.stringify(outcomes),
  );
});

test('any text is rejected with a typed error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: codePoint })), (text) => {
      assert.throws(() => fromPnml(text), PnmlFormatError);
    }),
    { numRuns: 300, seed: 1 },
  );
});
