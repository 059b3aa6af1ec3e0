import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnknownFieldError } from '../../core/index.ts';
import { compile, Executor, emptyMarking } from '../../net/index.ts';
import { deadlockFree, isProved, placeBound, prove, unreachable } from '../../verify/index.ts';
import { fromPnml } from './from-pnml.ts';
import type { FromPnmlOptions } from './from-pnml.ts';
import { PnmlFormatError, PnmlLimitError, PnmlUnsupportedError } from './pnml-errors.ts';

const GRAMMAR = 'http://www.pnml.org/version-2009/grammar/';

function pnml(content: string, type = 'ptnet'): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="${GRAMMAR}pnml">
<net id="n" type="${GRAMMAR}${type}">${content}</net>
</pnml>`;
}

function place(id: string, tokens = 0, more = ''): string {
  return `<place id="${id}"><initialMarking><text>${tokens}</text></initialMarking>${more}</place>`;
}

function arc(source: string, target: string, content = '', attributes = ''): string {
  return `<arc id="${source}-${target}" source="${source}" target="${target}" ${attributes}>${content}</arc>`;
}

function weight(n: number | string): string {
  return `<inscription><text>${n}</text></inscription>`;
}

/** A colored net: its declarations and the content of its page. */
function colored(declarations: string, content: string): string {
  return pnml(
    `<declaration><structure><declarations>${declarations}</declarations></structure></declaration><page id="g">${content}</page>`,
    'symmetricnet',
  );
}

function sorted(sort: string, id: string, marking = ''): string {
  const initial =
    marking === '' ? '' : `<hlinitialMarking><structure>${marking}</structure></hlinitialMarking>`;
  return `<place id="${id}"><type><structure><usersort declaration="${sort}"/></structure></type>${initial}</place>`;
}

function term(content: string): string {
  return `<hlinscription><structure>${content}</structure></hlinscription>`;
}

const DAYS = `<namedsort id="Day" name="Day"><cyclicenumeration><feconstant id="mon" name="Monday"/><feconstant id="tue" name="Tuesday"/><feconstant id="wed" name="Wednesday"/></cyclicenumeration></namedsort><variabledecl id="x" name="x"><usersort declaration="Day"/></variabledecl>`;
const X = '<variable refvariable="x"/>';
const ALL_DAYS = '<all><usersort declaration="Day"/></all>';

async function isReachable(
  document: string,
  marked: Readonly<Record<string, number>>,
): Promise<boolean> {
  const { net, bounds } = fromPnml(document);
  const report = await prove(compile(net), { properties: [unreachable(marked)], bounds });
  const [result] = report.results;
  assert.ok(result !== undefined && result.verdict !== 'unknown');
  return result.verdict === 'refuted';
}

function assertThrows(
  document: string,
  type: typeof PnmlFormatError | typeof PnmlLimitError | typeof PnmlUnsupportedError,
  message: RegExp,
  options: FromPnmlOptions = {},
): void {
  assert.throws(
    () => fromPnml(document, options),
    (error) => {
      assert.ok(error instanceof type, String(error));
      assert.match(error.message, message);
      return true;
    },
  );
}

test('a place/transition net is proved, with its weights, pages and references', async () => {
  const document = pnml(`
    <name><text>a name</text></name>
    <page id="one"><graphics/>
      <place id="parts"><name><text>parts of a chair</text><graphics><offset x="1" y="2"/></graphics></name>
        <initialMarking><text> 8 </text></initialMarking><graphics><position x="1" y="2"/></graphics></place>
      <referencePlace id="chairs-here" ref="chairs"/>
      <transition id="build"/>
      ${arc('parts', 'build', weight(4))}
      ${arc('build', 'chairs-here')}
      <page id="two">${place('chairs')}<toolspecific tool="x" version="1"><unknown capacity="1"/></toolspecific></page>
    </page>`);
  const { net, bounds, places, transitions } = fromPnml(document);
  assert.deepEqual(
    [...places],
    [
      ['parts', ['parts']],
      ['chairs', ['chairs']],
    ],
  );
  assert.deepEqual([...transitions], [['build', ['build']]]);
  const properties = [deadlockFree(['chairs']), placeBound('chairs', 2)];
  const report = await prove(compile(net), { properties, bounds });
  assert.ok(isProved(report));
  assert.deepEqual(compile(net).warnings, []);
});

test('names can be taken from the names in the document, if they are unique', () => {
  const named = (name: string, id: string): string =>
    place(id, 1, `<name><text>${name}</text></name>`);
  const content = (second: string): string =>
    `<page id="g">${named('first', 'p1')}${named(second, 'p2')}</page>`;
  const { places } = fromPnml(pnml(content('second')), { names: 'name' });
  assert.deepEqual([...places.values()].flat(), ['first', 'second']);
  assertThrows(pnml(content('first')), PnmlFormatError, /<place id="p2">.*"first" is used twice/, {
    names: 'name',
  });
});

test('every order of transitions is possible, and none of them must fire', async () => {
  const document = pnml(
    `<page id="g">${place('token', 1)}${place('left')}${place('right')}<transition id="l"/><transition id="r"/>${arc('token', 'l')}${arc('l', 'left')}${arc('token', 'r')}${arc('r', 'right')}</page>`,
  );
  for (const marked of ['token', 'left', 'right'])
    assert.ok(await isReachable(document, { [marked]: 1 }), marked);
});

test('inhibitor, reset and read arcs are imported in each way of writing them', async () => {
  const ways = (kind: string): readonly (readonly [string, string])[] => [
    [`<type value="${kind}"/>`, ''],
    [`<type><text>${kind}</text></type>`, ''],
    ['', `type="${kind}"`],
  ];
  const net = (tokens: number, [content, attribute]: readonly [string, string]): string =>
    pnml(
      `<page id="g">${place('token', 1)}${place('other', tokens)}${place('done')}<transition id="t"/>${arc('token', 't')}${arc('other', 't', content, attribute)}${arc('t', 'done')}</page>`,
    );
  for (const way of ways('inhibitor')) {
    assert.ok(await isReachable(net(0, way), { done: 1 }));
    assert.ok(!(await isReachable(net(1, way), { done: 1 })));
  }
  for (const way of ways('reset')) {
    assert.ok(await isReachable(net(0, way), { done: 1 }));
    assert.ok(!(await isReachable(net(3, way), { done: 1, other: 1 })));
  }
  for (const way of [...ways('read'), ...ways('test')]) {
    assert.ok(!(await isReachable(net(0, way), { done: 1 })));
    assert.ok(await isReachable(net(2, way), { done: 1, other: 2 }));
  }
});

test('a transition without inputs fires any number of times', async () => {
  const document = pnml(
    `<page id="g">${place('made')}<transition id="make"/>${arc('make', 'made')}</page>`,
  );
  assert.ok(await isReachable(document, { made: 5 }));
});

test('an imported net runs on the executor, one firing at a time', () => {
  const { net } = fromPnml(
    pnml(
      `<page id="g">${place('a', 1)}${place('b')}<transition id="go"/><transition id="back"/>${arc('a', 'go')}${arc('go', 'b')}${arc('b', 'back')}${arc('back', 'a')}</page>`,
    ),
  );
  const executor = new Executor(compile(net), emptyMarking(), { toFiringId: String });
  executor.begin(0);
  for (let at = 0; at < 5; at++) executor.settle(at);
  const fired = executor
    .takeSettled()
    .records.flatMap((record) => (record.kind === 'fired' ? [record.t] : []));
  assert.deepEqual(fired, ['go', 'back', 'go', 'back']);
});

test('a colored net is unfolded: variables, successors, conditions, products and dots', async () => {
  const condition =
    '<condition><structure><not><subterm><equality><subterm><variable refvariable="x"/></subterm><subterm><useroperator declaration="wed"/></subterm></equality></subterm></not></structure></condition>';
  const document = colored(
    `${DAYS}<namedsort id="Dot" name="Dot"><dot/></namedsort><namedsort id="Slot" name="Slot"><productsort><usersort declaration="Day"/><finiteintrange start="8" end="9"/></productsort></namedsort><variabledecl id="h" name="h"><finiteintrange start="8" end="9"/></variabledecl>`,
    `${sorted('Day', 'today', '<useroperator declaration="mon"/>')}${sorted('Slot', 'booked')}${sorted('Dot', 'permits', '<numberof><subterm><numberconstant value="2"><positive/></numberconstant></subterm><subterm><dotconstant/></subterm></numberof>')}
    <transition id="book">${condition}</transition>
    ${arc('today', 'book', term(X))}
    ${arc('permits', 'book', term('<dotconstant/>'))}
    ${arc('book', 'today', term(`<successor><subterm>${X}</subterm></successor>`))}
    ${arc('book', 'booked', term(`<tuple><subterm>${X}</subterm><subterm><variable refvariable="h"/></subterm></tuple>`))}`,
  );
  const { places, transitions } = fromPnml(document);
  assert.deepEqual(places.get('permits'), ['permits']);
  assert.deepEqual(places.get('today'), ['today[Monday]', 'today[Tuesday]', 'today[Wednesday]']);
  assert.equal(places.get('booked')?.at(-1), 'booked[Wednesday,9]');
  assert.deepEqual(transitions.get('book'), [
    'book[x=Monday,h=8]',
    'book[x=Monday,h=9]',
    'book[x=Tuesday,h=8]',
    'book[x=Tuesday,h=9]',
  ]);
  assert.ok(await isReachable(document, { 'booked[Monday,8]': 1, 'booked[Tuesday,9]': 1 }));
  assert.ok(await isReachable(document, { 'today[Wednesday]': 1 }));
});

test('multisets of a colored net: all, sums, differences and tuples of several colors', () => {
  const subterms = (...terms: readonly string[]): string =>
    terms.map((one) => `<subterm>${one}</subterm>`).join('');
  const pairs = `<tuple>${subterms('<useroperator declaration="tue"/>', ALL_DAYS)}</tuple>`;
  const document = colored(
    `${DAYS}<namedsort id="Pair" name="Pair"><productsort><usersort declaration="Day"/><usersort declaration="Day"/></productsort></namedsort>`,
    `${sorted('Day', 'weekend', `<subtract>${subterms(ALL_DAYS, '<useroperator declaration="mon"/>')}</subtract>`)}${sorted('Pair', 'pairs', pairs)}${sorted('Day', 'sum', `<add>${subterms(ALL_DAYS, ALL_DAYS, '<useroperator declaration="wed"/>')}</add>`)}`,
  );
  const { net } = fromPnml(document);
  assert.deepEqual(
    net.initial.map((token) => `${token.place.name}=${token.times}`),
    [
      'weekend[Tuesday]=1',
      'weekend[Wednesday]=1',
      'pairs[Tuesday,Monday]=1',
      'pairs[Tuesday,Tuesday]=1',
      'pairs[Tuesday,Wednesday]=1',
      'sum[Monday]=2',
      'sum[Tuesday]=2',
      'sum[Wednesday]=3',
    ],
  );
});

test('a document type declaration is rejected, so no entity can be defined or loaded', () => {
  const laughs = `<!DOCTYPE pnml [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><pnml><net id="&b;"/></pnml>`;
  assertThrows(laughs, PnmlFormatError, /document type declaration \(line 1\)/);
  const external = `<!DOCTYPE pnml SYSTEM "file:///etc/hostname"><pnml/>`;
  assertThrows(external, PnmlFormatError, /document type declaration/);
  assertThrows(pnml('<name><text>&unknown;</text></name>'), PnmlFormatError, /line 3.*entity/);
});

test('a document that is not well-formed, or is not PNML, is rejected with the place of the fault', () => {
  assertThrows('', PnmlFormatError, /root|element/);
  assertThrows('<pnml><net></pnml>', PnmlFormatError, /well-formed XML \(line 1, column/);
  assertThrows('<svg/>', PnmlFormatError, /<svg> in line 1: .*<pnml>/);
  assertThrows('<pnml/>', PnmlFormatError, /0 nets/);
  assertThrows(
    pnml('<page id="g"><place/></page>'),
    PnmlFormatError,
    /<place id="g">.*`id` is missing/,
  );
  assertThrows(
    pnml(`<page id="g">${place('p')}${place('p')}</page>`),
    PnmlFormatError,
    /<place id="p"> in line 3: the id is used twice/,
  );
  assertThrows(
    pnml(`<page id="g">${place('p', -1)}</page>`),
    PnmlFormatError,
    /<initialMarking id="p">.*"-1"; expected an integer of at least 0/,
  );
  assertThrows(
    pnml(`<page id="g">${place('p')}<transition id="t"/>${arc('p', 't', weight(0))}</page>`),
    PnmlFormatError,
    /<inscription id="p-t">.*"0"/,
  );
  assertThrows(
    pnml(`<page id="g">${place('p')}${place('q')}${arc('p', 'q')}</page>`),
    PnmlFormatError,
    /<arc id="p-q">.*from "p" to "q"/,
  );
  assertThrows(
    pnml(
      '<page id="g"><referencePlace id="a" ref="b"/><referencePlace id="b" ref="a"/><transition id="t"/><arc id="1" source="a" target="t"/></page>',
    ),
    PnmlFormatError,
    /refers to itself/,
  );
});

test('the net of a document with several is selected by its id', () => {
  const net = (id: string): string =>
    `<net id="${id}" type="${GRAMMAR}ptnet"><page id="g${id}">${place(`p${id}`)}</page></net>`;
  const document = `<pnml>${net('1')}${net('2')}</pnml>`;
  assert.equal(fromPnml(document, { net: '2' }).net.name, '2');
  assertThrows(document, PnmlFormatError, /2 nets \(1, 2\)/);
  assertThrows(document, PnmlFormatError, /no net "3"/, { net: '3' });
});

test('an element or a value with a meaning of its own is refused by its name', () => {
  const refuse = (document: string, message: RegExp): void =>
    assertThrows(document, PnmlUnsupportedError, message);
  const inPage = (content: string): string => pnml(`<page id="g">${content}</page>`);
  refuse(inPage(place('p', 0, '<capacity><text>1</text></capacity>')), /<capacity id="p">/);
  refuse(
    inPage('<transition id="t"><priority><text>1</text></priority></transition>'),
    /<priority id="t">/,
  );
  refuse(inPage('<transition id="t"><condition/></transition>'), /<condition id="t">/);
  refuse(pnml('', 'petriscript'), /<net id="n">.*petriscript/);
  const kinds = (kind: string, more = ''): string =>
    inPage(`${place('p')}<transition id="t"/>${arc('p', 't', more, `type="${kind}"`)}`);
  refuse(kinds('tapnInhibitor'), /<arc id="p-t">.*"tapnInhibitor"/);
  refuse(kinds('inhibitor', weight(2)), /inhibitor arc has the weight 2/);
  refuse(
    inPage(
      `${place('p')}<transition id="t"/>${arc('p', 't')}<arc id="i" source="p" target="t" type="inhibitor"/>`,
    ),
    /never fires/,
  );
  refuse(inPage(place('net.fault')), /"net.fault" is reserved/);
  refuse(inPage(place('running(t)')), /reserved/);
  refuse(colored('<namedsort id="s" name="s"><string/></namedsort>', ''), /<string id="s">/);
  refuse(colored('<partition id="s" name="s"/>', ''), /<partition id="s">/);
  refuse(colored(DAYS, sorted('Day', 'p', '<cardinality/>')), /<cardinality id="p">/);
});

test('a colored net with a fault in its terms is rejected', () => {
  const reject = (content: string, message: RegExp): void =>
    assertThrows(
      colored(
        `${DAYS}<namedsort id="N" name="N"><finiteintrange start="1" end="2"/></namedsort>`,
        content,
      ),
      PnmlFormatError,
      message,
    );
  reject(sorted('Night', 'p'), /sort "Night" is not declared/);
  reject(sorted('N', 'p', ALL_DAYS), /<all id="p">.*another sort/);
  reject(sorted('Day', 'p', '<variable refvariable="y"/>'), /variable "y" is not declared/);
  reject(sorted('Day', 'p', '<useroperator declaration="sun"/>'), /constant "sun" is not declared/);
  reject(
    sorted(
      'N',
      'p',
      '<finiteintrangeconstant value="3"><finiteintrange start="1" end="2"/></finiteintrangeconstant>',
    ),
    /value is 3/,
  );
  reject(
    sorted(
      'Day',
      'p',
      `<subtract><subterm><useroperator declaration="mon"/></subterm><subterm>${ALL_DAYS}</subterm></subtract>`,
    ),
    /subtracts tokens/,
  );
  reject(
    `${sorted('Day', 'p')}<transition id="t"/>${arc('p', 't')}`,
    /<arc id="p-t">.*no hlinscription/,
  );
  const circular =
    '<namedsort id="A" name="A"><usersort declaration="B"/></namedsort><namedsort id="B" name="B"><usersort declaration="A"/></namedsort>';
  assertThrows(colored(circular, ''), PnmlFormatError, /contains itself/);
});

test('a document or a net above a limit is rejected before it takes time or memory', () => {
  const limited = (document: string, limit: string, options: FromPnmlOptions = {}): void =>
    assertThrows(document, PnmlLimitError, new RegExp(`Raise the limit \`${limit}\``), options);
  limited(pnml(' '.repeat(10_000_000)), 'bytes');
  limited(pnml('<page>'.repeat(5_000)), 'depth');
  limited(pnml('<name/>'.repeat(1_000)), 'elements', { limits: { elements: 1_000 } });
  limited(pnml(`<toolspecific>${'<a>'.repeat(200)}`), 'depth');
  limited(pnml(`<page id="g">${place('p', 1_000_000)}</page>`), 'tokens');
  limited(
    pnml(`<page id="g">${place('p')}<transition id="t"/>${arc('p', 't', weight(1e6))}</page>`),
    'weight',
  );
  const range = (end: number): string =>
    `<namedsort id="N" name="N"><finiteintrange start="1" end="${end}"/></namedsort>`;
  limited(colored(range(1e12), ''), 'colors');
  limited(
    colored(range(9_000), `${sorted('N', 'p')}${sorted('N', 'q')}${sorted('N', 'r')}`),
    'places',
  );
  const variables = ['a', 'b', 'c', 'd', 'e', 'f']
    .map((id) => `<variabledecl id="${id}" name="${id}"><usersort declaration="N"/></variabledecl>`)
    .join('');
  const sum = `<and>${['a', 'b', 'c', 'd', 'e']
    .map(
      (id) =>
        `<subterm><inequality><subterm><variable refvariable="${id}"/></subterm><subterm><variable refvariable="f"/></subterm></inequality></subterm>`,
    )
    .join('')}</and>`;
  limited(
    colored(
      `${range(100)}${variables}`,
      `<transition id="t"><condition><structure>${sum}</structure></condition></transition>`,
    ),
    'steps',
    { limits: { steps: 1_000 } },
  );
  // Each sort is a pair of the one before: without a limit the last one would have 2^60 parts.
  const doubling = Array.from(
    { length: 60 },
    (_, index) =>
      `<namedsort id="S${index + 1}" name="S"><productsort><usersort declaration="S${index}"/><usersort declaration="S${index}"/></productsort></namedsort>`,
  );
  limited(
    colored(`<namedsort id="S0" name="S"><dot/></namedsort>${doubling.join('')}`, ''),
    'colors',
  );
  limited(pnml(''), 'bytes', { limits: { bytes: 10 } });
});

test('invalid options are rejected', () => {
  const options: { names: 'id'; limit: number } = { names: 'id', limit: 3 };
  assert.throws(() => fromPnml(pnml(''), options), UnknownFieldError);
  assert.throws(() => fromPnml(pnml(''), { limits: { bytes: Number.NaN } }), {
    code: 'invalid_input',
    field: 'limits.bytes',
  });
});
