import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  atMost,
  bounded,
  canFire,
  costAtMost,
  deadlockFree,
  eventOutBounded,
  eventually,
  eventuallyAnswered,
  isolated,
  joinedOrDeadLettered,
  joinsComplete,
  mutualExclusion,
  neverFiresAfter,
  neverStale,
  neverTakes,
  noStaleCommits,
  placeBound,
  precedes,
  settles,
  unreachable,
} from './create-property.ts';
import { formatForm, propertyForms } from './property-forms.ts';
import { propertyFromJson, propertyToJson } from './property-json.ts';
import { PropertySyntaxError } from './property-syntax-error.ts';
import { formatProperty, parseProperty } from './property-text.ts';
import type { Property } from './property.ts';
import { InvalidPropertyError } from './verify-errors.ts';

/** Each property as code, text and JSON. */
const samples: readonly (readonly [property: Property, text: string, json: unknown])[] = [
  [deadlockFree(), 'deadlockFree()', { property: 'deadlockFree' }],
  [
    deadlockFree(['a', { marked: ['b'] }]),
    'deadlockFree({marked: [], allowed: [a]}, {marked: [b]})',
    { property: 'deadlockFree', resting: [{ marked: [], allowed: ['a'] }, { marked: ['b'] }] },
  ],
  [
    placeBound(['a', 'running(b.c)'], 2),
    'placeBound(a, running(b.c), 2)',
    { property: 'placeBound', places: ['a', 'running(b.c)'], max: 2 },
  ],
  [
    placeBound('a', 0, { each: true }),
    'placeBound(a, 0, each: true)',
    { property: 'placeBound', places: ['a'], max: 0, each: true },
  ],
  [bounded(5), 'bounded(5)', { property: 'bounded', max: 5 }],
  [
    mutualExclusion('a', 'b', 'c'),
    'mutualExclusion(a, b, c)',
    { property: 'mutualExclusion', places: ['a', 'b', 'c'] },
  ],
  [
    unreachable({ a: 2, 'odd, name': 1 }, ['b']),
    'unreachable({a: 2, "odd, name": 1}, empty: [b])',
    { property: 'unreachable', marked: { a: 2, 'odd, name': 1 }, empty: ['b'] },
  ],
  [
    atMost(['model.call'], 3, { per: 'user.in' }),
    'atMost(model.call, 3, per: user.in)',
    { property: 'atMost', transitions: ['model.call'], max: 3, per: 'user.in' },
  ],
  [
    atMost(['model.call'], 3, { per: ['user.in', 'outcome.round'] }),
    'atMost(model.call, 3, per: [user.in, outcome.round])',
    {
      property: 'atMost',
      transitions: ['model.call'],
      max: 3,
      per: ['user.in', 'outcome.round'],
    },
  ],
  [
    costAtMost({ 'model.call': 5, 'tool.run': 1 }, 20),
    'costAtMost({model.call: 5, tool.run: 1}, 20)',
    { property: 'costAtMost', costs: { 'model.call': 5, 'tool.run': 1 }, max: 20 },
  ],
  [
    eventOutBounded('event.out', 1, { per: 'a/b' }),
    'eventOutBounded(event.out, 1, per: a/b)',
    { property: 'eventOutBounded', place: 'event.out', max: 1, per: 'a/b' },
  ],
  [
    precedes('approve', ['charge', 'refund'], { each: true, per: 'user.in' }),
    'precedes(approve, charge, refund, each: true, per: user.in)',
    {
      property: 'precedes',
      first: 'approve',
      transitions: ['charge', 'refund'],
      each: true,
      per: 'user.in',
    },
  ],
  [
    neverFiresAfter(['a', 'b'], 'c', { until: 'd' }),
    'neverFiresAfter(a, b, c, until: d)',
    { property: 'neverFiresAfter', transitions: ['a', 'b'], place: 'c', until: 'd' },
  ],
  [
    neverFiresAfter('a', 'c', { until: ['d', 'e'] }),
    'neverFiresAfter(a, c, until: [d, e])',
    { property: 'neverFiresAfter', transitions: ['a'], place: 'c', until: ['d', 'e'] },
  ],
  [settles(), 'settles()', { property: 'settles' }],
  [noStaleCommits(), 'noStaleCommits()', { property: 'noStaleCommits' }],
  [
    neverStale('commit', { renewals: ['renew'], work: ['a', 'running(b)'] }),
    'neverStale(commit, renewals: [renew], work: [a, running(b)])',
    { property: 'neverStale', commits: ['commit'], renewals: ['renew'], work: ['a', 'running(b)'] },
  ],
  [
    neverTakes('end', { from: ['a', 'b'] }),
    'neverTakes(end, from: [a, b])',
    { property: 'neverTakes', by: ['end'], from: ['a', 'b'] },
  ],
  [joinsComplete(), 'joinsComplete()', { property: 'joinsComplete' }],
  [joinsComplete('end'), 'joinsComplete(end)', { property: 'joinsComplete', ends: ['end'] }],
  [
    joinedOrDeadLettered({ from: 'a', joined: 'b', deadLetters: ['c'] }),
    'joinedOrDeadLettered(a, b, deadLetters: [c])',
    { property: 'joinedOrDeadLettered', from: 'a', joined: 'b', deadLetters: ['c'] },
  ],
  [
    eventuallyAnswered('ask', ['yes', 'no'], { resting: [{ marked: ['a'], allowed: ['b'] }] }),
    'eventuallyAnswered(ask, yes, no, resting: [{marked: [a], allowed: [b]}])',
    {
      property: 'eventuallyAnswered',
      asked: 'ask',
      answered: ['yes', 'no'],
      resting: [{ marked: ['a'], allowed: ['b'] }],
    },
  ],
  [
    eventually(['done', 'failed'], { after: 'start' }),
    'eventually(done, failed, after: start)',
    { property: 'eventually', events: ['done', 'failed'], after: 'start' },
  ],
  [
    isolated('billing', 'support', { through: ['state'] }),
    'isolated(billing, support, through: [state])',
    { property: 'isolated', one: 'billing', other: 'support', through: ['state'] },
  ],
  [canFire('a', 'b'), 'canFire(a, b)', { property: 'canFire', transitions: ['a', 'b'] }],
  [
    unreachable({ '3': 1, true: 2 }),
    'unreachable({"3": 1, "true": 2})',
    { property: 'unreachable', marked: { '3': 1, true: 2 } },
  ],
];

for (const [property, text, json] of samples) {
  test(`${text} is one property in code, text and JSON`, () => {
    assert.equal(formatProperty(property), text);
    assert.deepEqual(parseProperty(text), property);
    assert.deepEqual(propertyToJson(property), json);
    assert.deepEqual(propertyFromJson(json), property);
    assert.deepEqual(parseProperty(JSON.stringify(json)), property);
  });
}

test('every form of the language has a sample, or is another name of one', () => {
  const sampled = new Set(samples.map(([property]) => propertyToJson(property)['property']));
  const aliases = [
    'atMostOnce',
    'atMostOneCommits',
    'reaskBudgetIsBounded',
    'noFireAfterEndInvocation',
    'noToolAfterInterrupt',
    'everyNodeReachable',
  ];
  assert.deepEqual(
    new Set(propertyForms.map(({ name }) => name)),
    new Set([...sampled, ...aliases]),
  );
});

const synonyms: readonly (readonly [text: string, same: string])[] = [
  ['atMostOnce(a, per: b)', 'atMost(a, 1, per: b)'],
  ['atMostOneCommits(a, b)', 'atMost(a, b, 1)'],
  ['reaskBudgetIsBounded(model.call, 2, per: user.in)', 'atMost(model.call, 3, per: user.in)'],
  ['noFireAfterEndInvocation(a, b, until: c)', 'neverFiresAfter(a, b, until: c)'],
  ['noToolAfterInterrupt(a, b, c, until: d)', 'neverFiresAfter(a, b, c, until: d)'],
  ['everyNodeReachable(a, b)', 'canFire(a, b)'],
  ['placeBound([a, b], 1)', 'placeBound(a, b, 1)'],
  [' placeBound ( "a" ,b, 1 , ) ', 'placeBound(a, b, 1)'],
  ['unreachable(a, b)', 'unreachable({a: 1, b: 1})'],
  ['deadlockFree', 'deadlockFree()'],
  ['deadlockFree(a, b)', 'deadlockFree({marked: [], allowed: [a, b]})'],
  ['bounded()', 'bounded(10)'],
  ['atMost(per: b, a, 1)', 'atMost(a, 1, per: b)'],
  ['atMost(a, 1, per: [b])', 'atMost(a, 1, per: b)'],
  ['atMost(a, 1, per: [b, c, b])', 'atMost(a, 1, per: [b, c])'],
  ['neverFiresAfter(a, b, until: [c])', 'neverFiresAfter(a, b, until: c)'],
  ['eventually(a, resting: [b])', 'eventually(a, resting: [{marked: [], allowed: [b]}])'],
];

for (const [text, same] of synonyms) {
  test(`${text} is ${same}`, () => {
    assert.equal(formatProperty(parseProperty(text)), same);
  });
}

const mistakes: readonly (readonly [text: string, at: string, message: RegExp])[] = [
  ['', 'character 1', /expected the name of a property, but found the end/],
  ['deadlockfree', 'character 1', /no property "deadlockfree"\. Did you mean deadlockFree\?/],
  ['toString(a)', 'character 1', /no property "toString"\. .*The properties are deadlockFree/],
  ['placeBound(a', 'character 13', /expected "," or "\)", but found the end\. Write placeBound\(/],
  ['placeBound(a, 1', 'character 16', /expected "," or "\)", but found the end/],
  ['placeBound(a 1)', 'character 14', /expected "," or "\)", but found "1"/],
  ['placeBound(a]', 'character 13', /expected "," or "\)", but found "\]"/],
  ['placeBound(, 1)', 'character 12', /expected a name, a number or a list, but found ","/],
  ['placeBound(a, 1) b', 'character 18', /expected the end, but found "b"/],
  ['placeBound(a, b)', 'character 15', /max must be a number; it is "b"\. Write placeBound\(PLACE/],
  ['placeBound()', 'character 13', /places is missing\. Write placeBound\(PLACE, …, MAX/],
  ['atMostOnce(a, b)', 'character 15', /too many arguments\. Write atMostOnce\(TRANSITION/],
  ['atMost(a, 1, pro: b)', 'character 14', /atMost has no argument "pro"\. Write atMost\(/],
  ['atMost(a, 1, per: 2)', 'character 14', /per must be names; it is 2/],
  ['atMost(3, 1)', 'character 8', /transitions must be names; it is \[3\]/],
  ['precedes(a, b, each: 1)', 'character 16', /each must be true or false; it is 1/],
  ['unreachable({a: b})', 'character 13', /marked must be numbers by name/],
  ['unreachable({a})', 'character 15', /expected a name and ":", but found "}"/],
  ['deadlockFree({mark: [a]})', 'character 14', /resting must be places or markings/],
  [
    'costAtMost({a: 5, a: 0}, 3)',
    'character 19',
    /a is given twice, as 5 and 0\. Write costAtMost/,
  ],
  [
    'atMost(a, 1, per: x, per: y)',
    'character 22',
    /per is given twice, as x and y\. Write atMost\(/,
  ],
  ['unreachable(a, a)', 'character 13', /marked names "a" twice; write \{a: 2\}/],
  [
    '{"property": "costAtMost", "costs": {"a": 5, "\\u0061": 0}, "max": 3}',
    'character 46',
    /the field "a" is given twice, now as 0}, "max": 3}\. Remove one of them/,
  ],
  ['{"property": "bounded", "max": 1, "max": 9}', 'character 35', /the field "max" is given twice/],
  ['mutualExclusion([a, b)', 'character 22', /expected "," or "\]", but found "\)"/],
  ['{"property": "placeBound", }', 'character 28', /the JSON is not well-formed/],
  ['{"kind": "placeBound"}', 'property', /the name of the property is missing/],
  ['{"property": "placeBound", "places": ["a"], "max": "1"}', 'max', /max must be a number/],
  ['{"property": "placeBound", "place": ["a"], "max": 1}', 'place', /no argument "place"/],
];

for (const [text, at, message] of mistakes) {
  test(`the mistake in ${text || 'an empty text'} is reported where it is`, () => {
    assert.throws(
      () => parseProperty(text),
      (error: unknown) => {
        assert.ok(error instanceof PropertySyntaxError);
        assert.equal(error.at, at);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

test('an argument out of its range is the error of its constructor', () => {
  assert.throws(() => parseProperty('placeBound(a, -1)'), InvalidPropertyError);
  assert.throws(() => parseProperty('mutualExclusion(a)'), InvalidPropertyError);
  assert.throws(() => parseProperty('canFire()'), PropertySyntaxError);
});

test('the form of a property shows its options in brackets', () => {
  assert.deepEqual(propertyForms.filter(({ name }) => name === 'atMost').map(formatForm), [
    'atMost(TRANSITION, …, MAX, [per: PLACE])',
  ]);
});
