import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { z } from 'zod';
import { InvalidInputError } from '../../core/index.ts';
import { linearPattern } from './linear-pattern.ts';

const texts: readonly string[] = [
  '',
  'a',
  'ab',
  'AB1_-',
  'user@example.com',
  '.x@example.com',
  'a..b@example.com',
  '2026-11-22T10:20:30Z',
  ' \t',
  '\u00a0',
  '\u2028',
  'line\nbreak',
  '😀',
  'Ωmega',
  'a\bb',
  '[x]',
  'a/b',
  '00',
  'password1',
  'Password1',
];

const patterns: readonly string[] = [
  '^(a+)+$',
  '.',
  '^.$',
  '[^]',
  '[]',
  String.raw`^\s+$`,
  String.raw`^\S+$`,
  String.raw`[\s\S]`,
  String.raw`[^\s]`,
  String.raw`^[\S]$`,
  String.raw`\p{L}`,
  String.raw`^\p{Script=Greek}`,
  String.raw`^\P{Letter}`,
  String.raw`\u{1F600}`,
  String.raw`\ud83d\ude00`,
  String.raw`^\x61\u0062$`,
  String.raw`[\b]`,
  String.raw`\bb`,
  String.raw`\/`,
  String.raw`^[\]\[x]+$`,
  String.raw`(?<year>\d{4})-(?:\d\d)`,
  '^(?!a)',
  '^(?=.*[A-Z])(?=.*[0-9])(?!.*_).{3,}$',
  String.raw`^(?!\.)(?!.*\.\.)([\w.]+)@example\.com$`,
  '(?<=a)b',
  '(?<!a)b',
  'a|b',
  'a{2,3}',
  String.raw`^\cJ?a`,
  String.raw`\0?`,
];

test('a pattern matches like RegExp', () => {
  for (const pattern of patterns) {
    const { matches } = linearPattern(pattern);
    const expected = new RegExp(pattern, 'u');
    for (const text of texts) {
      assert.equal(matches(text), expected.test(text), `${pattern} on ${JSON.stringify(text)}`);
    }
  }
});

/** Regular expressions with every construct that both engines have. */
const anyPattern: fc.Arbitrary<string> = fc
  .letrec<{ pattern: string; atom: string }>((tie) => ({
    atom: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', String.raw`\s`, String.raw`\w`, '^', '$'),
      tie('pattern').map((inner) => `(?:${inner})`),
      tie('pattern').map((inner) => `(${inner})`),
    ),
    pattern: fc
      .array(fc.tuple(tie('atom'), fc.constantFrom('', '', '*', '+', '?', '{1,2}', '*?', '|')), {
        minLength: 1,
        maxLength: 4,
      })
      .map((parts) => parts.map(([atom, times]) => atom + times).join('')),
  }))
  .pattern.filter((pattern) => !/[\^$][*+?{]/.test(pattern));

test('any pattern matches like RegExp', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'é'), maxLength: 6 });
  fc.assert(
    fc.property(anyPattern, fc.array(text, { maxLength: 8 }), (pattern, some) => {
      const { matches } = linearPattern(pattern);
      const expected = new RegExp(pattern, 'u');
      for (const one of some) assert.equal(matches(one), expected.test(one), pattern);
    }),
    { numRuns: 300 },
  );
});

test('the patterns that zod writes into a schema are supported', () => {
  const formats = z.object({
    email: z.email(),
    uuid: z.uuid(),
    url: z.url(),
    ipv4: z.ipv4(),
    cidr: z.cidrv6(),
    base64: z.base64(),
    jwt: z.jwt(),
    day: z.iso.date(),
    at: z.iso.datetime(),
    phone: z.e164(),
    id: z.nanoid(),
    cuid: z.cuid2(),
    start: z.string().startsWith('a').includes('b').endsWith('c').lowercase(),
  });
  const found = [
    ...JSON.stringify(z.toJSONSchema(formats)).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g),
  ];
  assert.ok(found.length > 8);
  for (const [, quoted = ''] of found) {
    const pattern = z.string().parse(JSON.parse(quoted));
    assert.doesNotThrow(() => linearPattern(pattern), pattern);
  }
});

test('a pattern that cannot run in linear time is rejected with the reason', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    [String.raw`(a)\1`, /backreference "\\1" is not supported/],
    [String.raw`(?<n>a)\k<n>`, /backreference/],
    ['a(?=b)', /lookahead "\(\?=" is supported only directly after a leading "\^"/],
    ['^(?!a)b|c', /lookahead beside "\|" is not supported/],
    ['(?=', /lookahead/],
    ['^(?=a', /"\(" has no "\)"/],
    [String.raw`\y`, /is not a valid escape/],
    ['x{1001}', /invalid repeat count/],
    ['a{900}'.repeat(20), /too many repetitions/],
    ['a'.repeat(5_000), /longer than 4000 characters/],
    ['(', /missing closing/],
  ];
  for (const [pattern, message] of cases) {
    assert.throws(
      () => linearPattern(pattern),
      (error) => error instanceof InvalidInputError && message.test(error.message),
      pattern,
    );
  }
});

test('a pattern that takes RegExp hours ends', () => {
  for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^(.*)*$', '(x+x+)+y']) {
    assert.equal(typeof linearPattern(pattern).matches(`${'a'.repeat(50_000)}!`), 'boolean');
  }
});
