import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, tool } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { pending } from '../../src/tools/index.ts';
import { readQuestion, writeAnswer } from '../src/session/answer-schema.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';

const schema = {
  type: 'object',
  properties: {
    seat: { type: 'string', title: 'Seat', enum: ['window', 'aisle'] },
    bags: { type: 'integer', title: 'Bags', default: 1 },
    meals: { type: 'array', title: 'Meals', items: { type: 'string', enum: ['fish', 'rice'] } },
    note: { type: 'string', title: 'Note' },
    insured: { type: 'boolean', title: 'Insured', default: true },
  },
  required: ['seat'],
};
const request = { message: 'Which seat?', schema };

test('a question becomes fields, and what is entered an answer of its types', () => {
  const question = readQuestion(request);
  assert.deepEqual(
    question?.fields.map(({ name, kind, isRequired, start }) => [name, kind, isRequired, start]),
    [
      ['seat', 'choice', true, ''],
      ['bags', 'integer', false, '1'],
      ['meals', 'choices', false, []],
      ['note', 'text', false, ''],
      ['insured', 'boolean', false, true],
    ],
  );
  const fields = question?.fields ?? [];
  assert.equal(writeAnswer(fields, {}), undefined, 'the seat is required');
  assert.equal(writeAnswer(fields, { seat: 'aisle', bags: '1.5' }), undefined, 'a part of a bag');
  assert.deepEqual(writeAnswer(fields, { seat: 'aisle', bags: '', meals: ['rice'] }), {
    seat: 'aisle',
    meals: ['rice'],
    insured: true,
  });
});

test('an MCP question has a form and may be declined, and what no form can ask has none', () => {
  const asked = { server: 'seats', questions: [{ id: 'q', ...request }] };
  assert.equal(readQuestion(asked)?.mayDecline, true);
  assert.equal(readQuestion(request)?.mayDecline, false);
  const other = { type: 'object', properties: { at: { type: 'object' } } };
  for (const unknown of [
    null,
    'text',
    { message: 'no schema' },
    { schema: other },
    { questions: [request, request] },
    { questions: [] },
  ])
    assert.equal(readQuestion(unknown), undefined, JSON.stringify(unknown));
});

test(
  'a call that asks a question is answered in a form, and the tool gets the typed answer',
  { skip: noBrowser },
  async () => {
    const answers: unknown[] = [];
    const clerk = agent({
      name: 'clerk',
      model: new ScriptedModel([{ toolCalls: [{ name: 'choose_seat' }] }, { text: 'Seated.' }]),
      tools: [
        tool({
          name: 'choose_seat',
          description: 'Asks which seat.',
          execute: (_args, { answer }) => {
            if (answer === undefined) return pending({ request, resume: {} });
            answers.push(answer.response);
            return { done: true };
          },
        }),
      ],
    });
    await using server = await openConsoleServer({ agents: [clerk] });
    const session = await server.runtime.session('demo', { user: 'default' });
    await session.ask('A seat').catch(() => undefined);
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      await page.goto(`${server.url}/console/s/demo`);
      await page.getByRole('log').getByText('Which seat?').waitFor();
      await page.goto(`${server.url}/console/inbox`);
      await page.getByText('Which seat?').waitFor();
      const give = page.getByRole('button', { name: 'Give the answer' });
      assert.equal(await give.isDisabled(), true, 'the seat is required');
      await page.getByRole('combobox', { name: 'Seat' }).selectOption('window');
      await page.getByRole('spinbutton', { name: 'Bags' }).fill('2');
      await give.click();
      await page.getByText('Nothing waits for you').waitFor();
      await page.goto(`${server.url}/console/s/demo`);
      await page.getByRole('log').getByText('Seated.').waitFor();
      assert.deepEqual(answers, [{ seat: 'window', bags: 2, meals: [], insured: true }]);
    } finally {
      await browser.close();
    }
  },
);
