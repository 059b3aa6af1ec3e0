import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from '../parity/script.ts';
import type { AdkPackage } from './load-sample.ts';
import { runSample } from './run-sample.ts';
import type { SampleRun } from './run-sample.ts';

const PACKAGES: readonly AdkPackage[] = ['@google/adk', 'petrichor/adk'];

for (const on of PACKAGES)
  describe(`samples of ADK on ${on}`, () => {
    it('a travel concierge transfers to the agents that inspire, plan and book', async () => {
      const { turns, state } = await runConcierge(on);
      assert.deepEqual(turns, [
        [
          'root_agent calls transfer_to_agent {"agentName":"inspiration_agent"}',
          'root_agent returns transfer_to_agent {"result":"Transfer queued"}',
          'inspiration_agent calls place_agent {"request":"the sea"}',
          'inspiration_agent returns place_agent {"result":"Porto, Nice"}',
          'inspiration_agent calls memorize {"key":"destination","value":"Porto"}',
          'inspiration_agent returns memorize {"status":"Stored destination."}',
          'inspiration_agent: Porto it is.',
        ],
        [
          'inspiration_agent calls transfer_to_agent {"agentName":"planning_agent"}',
          'inspiration_agent returns transfer_to_agent {"result":"Transfer queued"}',
          'planning_agent calls search_flights {"origin":"Lisbon","destination":"Porto"}',
          'planning_agent returns search_flights {"flights":[{"flight":"PT 101","from":"Lisbon","to":"Porto","price":420},{"flight":"PT 202","from":"Lisbon","to":"Porto","price":380}]}',
          'planning_agent calls memorize {"key":"flight","value":"PT 202"}',
          'planning_agent returns memorize {"status":"Stored flight."}',
          'planning_agent: PT 202 for 380.',
        ],
        [
          'planning_agent calls transfer_to_agent {"agentName":"booking_agent"}',
          'planning_agent returns transfer_to_agent {"result":"Transfer queued"}',
          'booking_agent calls process_payment {"method":"card"}',
          'booking_agent returns process_payment {"status":"paid","flight":"PT 202","method":"card"}',
          'root_agent: Have a good trip!',
        ],
      ]);
      assert.deepEqual(state, {
        home: 'Lisbon',
        'user:name': 'Ada',
        places: 'Porto, Nice',
        destination: 'Porto',
        flight: 'PT 202',
        booked: 'PT 202',
      });
    });

    it('a customer service checks arguments, applies a discount and limits its requests', async () => {
      const { turns, state, instructions } = await runCustomerService(on);
      assert.deepEqual(turns, [
        [
          'customer_service_agent calls check_product_availability {"product":"ROSE"}',
          'customer_service_agent returns check_product_availability {"product":"rose","available":true}',
          'customer_service_agent: The rose is there.',
        ],
        [
          'customer_service_agent calls modify_cart {"customerId":"c-1","add":["rose"]}',
          'customer_service_agent calls access_cart_information {"customerId":"c-9"}',
          'customer_service_agent returns modify_cart {"status":"success","items":["rose"]}',
          'customer_service_agent returns access_cart_information {"status":"refused","reason":"This cart belongs to somebody else."}',
          'customer_service_agent: Added.',
        ],
        [
          'customer_service_agent calls approve_discount {"percent":50,"reason":"loyal"}',
          'customer_service_agent calls approve_discount {"percent":5,"reason":"loyal"}',
          'customer_service_agent returns approve_discount {"status":"refused","reason":"A manager must approve it."}',
          'customer_service_agent returns approve_discount {"status":"approved","percent":5,"message":"The discount is in the cart."}',
          'customer_service_agent: 5 percent.',
        ],
        [
          'customer_service_agent calls access_cart_information {"customerId":"c-1"}',
          'customer_service_agent returns access_cart_information {"items":["rose"]}',
          'customer_service_agent: A rose.',
        ],
        ['customer_service_agent: Please come back later.'],
      ]);
      assert.deepEqual(state, {
        customer_profile: 'Ada, c-1, since 2020',
        customer_id: 'c-1',
        cart: ['rose'],
        discount: 5,
        requests: 9,
      });
      assert.equal(instructions.length, 8, 'the ninth request does not reach the model');
    });

    it('a story flow revises until the critic leaves the loop, and writes again', async () => {
      const { turns, state } = await runStoryFlow(on);
      // The two checks run at the same time.
      assert.deepEqual(
        [turns[0]?.slice(0, 5), turns[0]?.slice(5, 7).toSorted(), turns[0]?.slice(7)],
        [
          [
            'story_generator: Draft 1',
            'critic: Too dark.',
            'reviser: Draft 2',
            'critic calls exit_loop {}',
            'critic returns exit_loop {"result":""}',
          ],
          ['grammar_check: No errors.', 'tone_check: negative'],
          ['story_generator: Draft 3'],
        ],
      );
      assert.deepEqual(state, {
        topic: 'a robot',
        story: 'Draft 3',
        grammar: 'No errors.',
        tone: 'negative',
      });
    });

    it('the quickstart answers with tools that have schemas of zod and of Gemini', async () => {
      const { turns } = await runSample({
        sample: 'weather-time',
        on,
        messages: ['What is it like in New York?'],
        scripts: {
          weather_time_agent: [
            {
              calls: [
                { name: 'get_weather', args: { city: 'New York' } },
                { name: 'get_current_time', args: { city: 'Rome', formats: ['short'] } },
              ],
            },
            { text: 'Sunny, and noon.' },
          ],
        },
      });
      assert.deepEqual(turns, [
        [
          'weather_time_agent calls get_weather {"city":"New York"}',
          'weather_time_agent calls get_current_time {"city":"Rome","formats":["short"]}',
          'weather_time_agent returns get_weather {"status":"success","report":"Sunny, 25 degrees."}',
          `weather_time_agent returns get_current_time {"status":"success","report":"It is noon: {\\"city\\":\\"Rome\\",\\"formats\\":[\\"short\\"]}"}`,
          'weather_time_agent: Sunny, and noon.',
        ],
      ]);
    });

    it('a tool transfers urgent questions to the support agent', async () => {
      const { turns, state } = await runSample({
        sample: 'support-desk',
        on,
        messages: ['Where is my account?', 'This is urgent!'],
        scripts: {
          main_agent: [
            call('check_and_transfer', { query: 'Where?' }),
            { text: 'Here.' },
            call('check_and_transfer', { query: 'This is urgent!' }),
          ],
          support_agent: [{ text: 'Unlocked.' }],
        },
      });
      assert.deepEqual(turns, [
        [
          'main_agent calls check_and_transfer {"query":"Where?"}',
          'main_agent returns check_and_transfer {"status":"success","message":"The main agent answers."}',
          'main_agent: Here.',
        ],
        [
          'main_agent calls check_and_transfer {"query":"This is urgent!"}',
          'main_agent returns check_and_transfer {"status":"success","message":"The support agent answers."}',
          'support_agent: Unlocked.',
        ],
      ]);
      assert.deepEqual(state, { asked: 2, support: 'Unlocked.' });
    });

    it('a tool keeps preferences of the user, and an agent sums them up with a schema', async () => {
      const { turns, state } = await runSample({
        sample: 'preferences',
        on,
        messages: ['Dark, in French.'],
        scripts: {
          preferences_agent: [
            call('set_preference', { name: 'theme', value: 'dark' }),
            call('set_preference', { name: 'language', value: 'fr' }),
            call('transfer_to_agent', { agentName: 'summary' }),
          ],
          summary: [{ text: '{"count":2}' }],
        },
      });
      const preferences = { theme: 'dark', language: 'fr' };
      assert.deepEqual(turns[0]?.slice(1, 4), [
        'preferences_agent returns set_preference {"status":"success","preferences":{"theme":"dark"}}',
        'preferences_agent calls set_preference {"name":"language","value":"fr"}',
        `preferences_agent returns set_preference ${JSON.stringify({ status: 'success', preferences })}`,
      ]);
      assert.equal(turns[0]?.at(-1), 'summary: {"count":2}');
      assert.deepEqual(state, { 'user:preferences': preferences, summary: { count: 2 } });
    });
  });

describe('samples of ADK on both packages', () => {
  for (const run of [runConcierge, runCustomerService, runStoryFlow])
    it(`${run.name}: the models get the same instructions`, async () => {
      const [stock, petrichor] = await Promise.all(
        PACKAGES.map(async (on) => (await run(on)).instructions.toSorted()),
      );
      assert.deepEqual(petrichor, stock);
    });
});

function call(name: string, args: Required<Call>['args'] = {}): Answer {
  return { calls: [{ name, args }] };
}

type Call = NonNullable<Answer['calls']>[number];

async function runConcierge(on: AdkPackage): Promise<SampleRun> {
  return runSample({
    sample: 'travel-concierge',
    on,
    messages: ['I want to go to the sea.', 'Plan it.', 'Book it, by card.'],
    scripts: {
      root_agent: [
        call('transfer_to_agent', { agentName: 'inspiration_agent' }),
        { text: 'Have a good trip!' },
      ],
      inspiration_agent: [
        call('place_agent', { request: 'the sea' }),
        call('memorize', { key: 'destination', value: 'Porto' }),
        { text: 'Porto it is.' },
        call('transfer_to_agent', { agentName: 'planning_agent' }),
      ],
      place_agent: [{ text: 'Porto, Nice' }],
      planning_agent: [
        call('search_flights', { origin: 'Lisbon', destination: 'Porto' }),
        call('memorize', { key: 'flight', value: 'PT 202' }),
        { text: 'PT 202 for 380.' },
        call('transfer_to_agent', { agentName: 'booking_agent' }),
      ],
      booking_agent: [call('process_payment', { method: 'card' })],
    },
  });
}

async function runCustomerService(on: AdkPackage): Promise<SampleRun> {
  return runSample({
    sample: 'customer-service',
    on,
    messages: ['Are there roses?', 'Add one.', 'Any discount?', 'What is in my cart?', 'Thanks.'],
    scripts: {
      customer_service_agent: [
        call('check_product_availability', { product: 'ROSE' }),
        { text: 'The rose is there.' },
        {
          calls: [
            { name: 'modify_cart', args: { customerId: 'c-1', add: ['rose'] } },
            { name: 'access_cart_information', args: { customerId: 'c-9' } },
          ],
        },
        { text: 'Added.' },
        {
          calls: [
            { name: 'approve_discount', args: { percent: 50, reason: 'loyal' } },
            { name: 'approve_discount', args: { percent: 5, reason: 'loyal' } },
          ],
        },
        { text: '5 percent.' },
        call('access_cart_information', { customerId: 'c-1' }),
        { text: 'A rose.' },
      ],
    },
  });
}

async function runStoryFlow(on: AdkPackage): Promise<SampleRun> {
  return runSample({
    sample: 'story-flow',
    on,
    messages: ['Go.'],
    state: { topic: 'a robot' },
    scripts: {
      story_generator: [{ text: 'Draft 1' }, { text: 'Draft 3' }],
      critic: [{ text: 'Too dark.' }, call('exit_loop')],
      reviser: [{ text: 'Draft 2' }],
      grammar_check: [{ text: 'No errors.' }],
      tone_check: [{ text: 'negative' }],
    },
  });
}
