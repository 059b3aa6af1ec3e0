import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseProperty } from '../../src/verify/index.ts';
import { formatForm, propertyForms } from '../../src/verify/internal.ts';
import { listFields, writeProperty } from '../src/proofs/property-form.ts';
import type { FormField } from '../src/proofs/property-form.ts';
import { describeStep, isInCycle, listStepMoves, viewCounts } from '../src/proofs/trace-view.ts';
import { travel } from './agents.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';

const forms = propertyForms.map((form) => ({
  kind: form.name,
  text: formatForm(form),
  states: form.states,
}));

test('a property that is chosen by pickers is one that the language reads', () => {
  const examples: Readonly<Record<FormField['kind'], readonly string[]>> = {
    places: ['turn.permit', 'turn.current'],
    place: ['turn.permit'],
    transitions: ['model.call', 'tool.run'],
    transition: ['model.call'],
    number: ['2'],
  };
  const offered: string[] = [];
  for (const form of forms) {
    const fields = listFields(form);
    if (fields === undefined) continue;
    offered.push(form.kind);
    const text = writeProperty(
      form,
      fields,
      fields.map(({ kind }) => examples[kind]),
    );
    assert.ok(text !== undefined, form.kind);
    assert.doesNotThrow(() => parseProperty(text), text);
    if (fields.length > 0) assert.equal(writeProperty(form, fields, []), undefined, form.kind);
  }
  for (const kind of ['deadlockFree', 'placeBound', 'unreachable', 'atMost', 'canFire', 'settles'])
    assert.ok(offered.includes(kind), kind);
  assert.ok(!offered.includes('precedes'), 'an event cannot be chosen');
});

test('a step of a counterexample shows the tokens that it moves, and what runs', () => {
  const trace = {
    steps: [
      { kind: 'injected', gives: { 'user.in': 1 } },
      { kind: 'started', transition: 'model.call', gives: {} },
      { kind: 'ended', transition: 'model.call', alternative: 'calls', gives: { done: 2 } },
    ],
    markings: [
      { 'turn.permit': 1 },
      { 'turn.permit': 1, 'user.in': 1 },
      { 'turn.permit': 1, 'running(model.call)': 1 },
      { 'turn.permit': 1, done: 2 },
    ],
    marking: { 'turn.permit': 1, done: 2 },
    circleFrom: 1,
  };
  assert.deepEqual(
    [0, 1, 2, 3].map((step) => describeStep(trace, step)),
    [
      'the initial marking',
      'user.in comes from outside',
      'started model.call',
      'ended model.call (calls)',
    ],
  );
  assert.deepEqual([...listStepMoves(trace, 3).given], [['done', 2]]);
  assert.deepEqual([...listStepMoves(trace, 2).taken], [['user.in', 1]]);
  assert.deepEqual([...listStepMoves(trace, 0).given], []);
  const view = viewCounts(trace.markings[2] ?? {});
  assert.deepEqual([...view.running.keys()], ['model.call']);
  assert.deepEqual([...view.places.keys()], ['turn.permit']);
  assert.deepEqual(
    [0, 1, 2, 3].map((step) => isInCycle(trace, step)),
    [false, false, true, true],
  );
});

test(
  'a proof is started with pickers, shows each verdict as it comes, plays what refutes one, and can be canceled',
  { skip: noBrowser },
  async () => {
    await using server = await openConsoleServer({ agents: [travel] });
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      await page.goto(`${server.url}/console/proofs`);
      const start = async (bounds: Readonly<Record<string, string>>): Promise<void> => {
        for (const [label, value] of Object.entries(bounds))
          await page.getByLabel(label).fill(value);
        await page.getByRole('button', { name: 'Prove', exact: true }).click();
      };
      await page.getByRole('button', { name: 'New proof' }).click();
      await page.getByLabel('Another property').selectOption('unreachable');
      await page.getByRole('listbox', { name: 'Places' }).selectOption('turn.waiting');
      await page.getByRole('button', { name: 'Add unreachable(turn.waiting)' }).click();
      const properties = page.getByRole('group', { name: 'Properties' }).getByRole('checkbox');
      for (const box of await properties.all()) await box.uncheck();
      await page.getByRole('checkbox', { name: /^at most 1 in turn.permit/ }).check();
      await start({ 'Calls at once': '1', Faults: '0' });
      await page.locator('.verdict').getByText('refuted').waitFor();
      await page.locator('.verdict').getByText('proved').waitFor();
      assert.equal(await page.locator('.verdict').count(), 2);

      await page.getByRole('button', { name: /^Play \d+ steps$/ }).click();
      const waiting = page.locator('[data-node="p:turn.waiting"]');
      await page.locator('[data-node="p:turn.waiting"][data-count="1"]').waitFor();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.getByRole('button', { name: 'Copy as a test' }).click();
      await page.getByText('Save it beside the module').waitFor();
      const copied = await page.evaluate('navigator.clipboard.readText()');
      assert.match(String(copied), /import \* as subject from '\.\/agents\.ts'/);
      const slider = page.getByRole('slider', { name: 'Step' });
      const last = Number(await slider.inputValue());
      await slider.press('ArrowLeft');
      await page.locator('[data-node="p:turn.waiting"][data-count="0"]').waitFor();
      assert.equal(await waiting.count(), 1);
      await page.waitForURL(new RegExp(`step=${last - 1}`));
      await page.getByRole('button', { name: /the initial marking/ }).click();
      await page.locator('[data-node="p:turn.permit"][data-count="1"]').waitFor();

      await page.getByRole('button', { name: 'New proof' }).click();
      await page.getByRole('checkbox', { name: /^deadlock-free/ }).waitFor();
      await start({ Messages: '3', Faults: '3', 'Most states': '50000000' });
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.locator('.section').getByText('canceled').first().waitFor();
      assert.equal(
        await page.getByRole('navigation', { name: 'Proofs' }).getByRole('link').count(),
        2,
      );
    } finally {
      await browser.close();
    }
  },
);
