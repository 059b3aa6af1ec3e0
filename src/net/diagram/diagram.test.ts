import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { all, allOf, many, matching, oneOf, upTo } from '../language/arcs.ts';
import { compile } from '../build/compile.ts';
import { compose } from '../language/compose.ts';
import { toDot, toSvg } from './diagram.ts';
import { initialToken, net } from '../language/net.ts';
import { outlet, place } from '../language/place.ts';
import { effect, pure, running } from '../language/transition.ts';

const request = place('model.request', v.string(), { environment: true });
const response = place('model.response', v.string());
const stop = place('turn.stop', { environment: true });
const said = outlet('said', v.string());

const ask = effect('model.call', {
  take: { request },
  unless: [stop],
  give: oneOf({ response }),
  failed: () => ({ response: 'failed' }),
  run: async () => ({ response: 'ok' }),
});
const say = pure('say', {
  take: { response: many(2, response) },
  read: { stops: all(stop, { min: 0 }) },
  reset: [running(ask)],
  give: allOf({ said: upTo(3, said) }),
  run: () => ({ said: [] }),
});
const step = net('model-step', { in: { request, stop }, out: { response }, transitions: [ask] });
const voice = net('voice', { in: { response, stop }, out: { said }, transitions: [say] });

test('a diagram shows the kind of every arc', () => {
  const dot = toDot(compile(compose('agent "one"', { nets: [step, voice] })));
  assert.match(dot, /^digraph "agent \\"one\\"" \{/);
  for (const line of [
    /subgraph "cluster_model-step"/,
    /"t:model\.call" \[label="model\.call", shape="box", style="filled,rounded"/,
    /"p:turn\.stop" -> "t:model\.call" \[.*arrowhead="odot"\]/,
    /"p:turn\.stop" -> "t:say" \[.*style="dashed"/,
    /"p:running\(model\.call\)" -> "t:say" \[.*arrowhead="normalnormal"\]/,
    /"p:model\.response" -> "t:say" \[label="2"\]/,
    /"t:say" -> "p:said" \[label="0\.\.3"\]/,
    /"p:said" \[.*peripheries="2"/,
  ]) {
    assert.match(dot, line);
  }
});

test('a keyed input is marked, and a part of a net can be drawn alone', () => {
  const pair = pure('pair', {
    take: { a: matching(request, String), b: matching(response, String) },
    give: oneOf({ said }),
    run: () => ({ said: '' }),
  });
  const compiled = compile(net('pairs', { transitions: [pair, say, ask] }));
  const dot = toDot(compiled, { only: (t) => t === 'pair', without: (name) => name === 'said' });
  assert.match(dot, /"p:model\.request" -> "t:pair" \[label="="\]/);
  assert.doesNotMatch(dot, /model\.call|said/);
});

test('a token that is taken and returned is one line with two heads, and a place shows its initial tokens', () => {
  const permit = place('permit');
  const pass = pure('pass', {
    take: { permit, request },
    unless: [running(ask)],
    give: oneOf({ permit }),
    run: () => ({ permit: null }),
  });
  const once = net('once', { transitions: [pass, ask], initial: [initialToken(permit, null)] });
  const dot = toDot(compile(once));
  assert.match(dot, /"p:permit" -> "t:pass" \[dir="both"\]/);
  assert.doesNotMatch(dot, /"t:pass" -> "p:permit"/);
  assert.match(dot, /"p:permit" \[label="permit ●"/);
  assert.match(dot, /"t:model\.call" -> "p:running\(model\.call\)" \[.*style="dotted"/);
});

test('a net is drawn as SVG', async () => {
  const svg = await toSvg(compile(net('small', { transitions: [ask] })));
  assert.match(svg, /<svg[\s\S]*model\.call[\s\S]*<\/svg>/);
});
