import { readOwn } from '../../core/internal.ts';
import * as v from 'valibot';
import { SESSION_WRITE_SCOPES } from '../auth/key-scope.ts';
import { agentProof } from '../../agents/index.ts';
import type { Agent, AgentProofLimits } from '../../agents/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import {
  formatProperty,
  InvalidPropertyError,
  parseProperty,
  PropertySyntaxError,
  UnknownNameError,
} from '../../verify/index.ts';
import type { Property } from '../../verify/index.ts';
import { checkNames, formatForm, propertyForms } from '../../verify/internal.ts';
import { frame, frameStream } from '../events/frame-stream.ts';
import { HttpError } from '../http/http-error.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { component, field } from '../wire/component.ts';
import type { Wire } from '../wire/component.ts';
import {
  agentProperties,
  proofChange,
  proofPage,
  proofResponse,
} from '../wire/responses/proof-responses.ts';
import { nonEmptyText, pagination } from '../wire/wire-schemas.ts';
import { getWorkspaceAgent, listCodeAgentIds } from './workspace-agents.ts';

const integer = (min: number, max: number): v.GenericSchema<unknown, number> =>
  v.pipe(
    v.number('must be a number'),
    v.safeInteger('must be a whole number'),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

const DEFAULT_BOUNDS: Wire<'ProofBounds'> = {
  messages: 1,
  at_once: 2,
  faults: 1,
  shutdowns: false,
  states: 1_000_000,
};

const proofParams = component(
  'ProofParams',
  'What to prove.',
  v.object({
    agent_id: nonEmptyText(256),
    properties: v.nullish(
      field(
        'Names of default properties of the agent, or properties as text. Default: all default properties.',
        v.pipe(
          v.array(nonEmptyText(2000), 'must be a list of texts'),
          v.nonEmpty('must not be empty'),
          v.maxLength(50, 'must have at most 50 properties'),
        ),
      ),
    ),
    bounds: v.nullish(
      component(
        'ProofBoundsParams',
        'Default: `bounds` of `GET /v1/agents/{agent_id}/properties`.',
        v.object({
          messages: v.nullish(integer(0, 100)),
          at_once: v.nullish(integer(1, 100)),
          faults: v.nullish(integer(0, 100)),
          shutdowns: v.nullish(v.boolean('must be true or false')),
          states: v.nullish(integer(1, 100_000_000)),
        }),
      ),
    ),
  }),
);

/** Routes that extend the protocol: proofs of the nets of agents. */
export function proofRoutes(context: ServerContext): readonly HttpRoute[] {
  const { proofs } = context;
  return [
    defineRoute('GET /v1/agents/{agent_id}/properties: The properties that an agent promises', {
      response: agentProperties,
      run: async ({ caller: { workspace }, params }) => {
        const { id } = await getWorkspaceAgent(context, workspace, params('agent_id'));
        const agent = await context.runtime.loadAgent(id);
        return {
          agent_id: id,
          net_hash: agent.compiled.hash,
          properties: Object.entries(agentProof(agent).properties).map(([name, property]) => ({
            name,
            title: property.name,
            text: formatProperty(property),
            kind: property.kind,
          })),
          forms: propertyForms.map((form) => ({
            kind: form.name,
            text: formatForm(form),
            states: form.states,
          })),
          bounds: DEFAULT_BOUNDS,
        };
      },
    }),
    defineRoute('POST /v1/proofs: Prove properties of an agent', {
      response: proofResponse,
      scopes: SESSION_WRITE_SCOPES,
      body: proofParams,
      creates: true,
      run: async ({ caller: { workspace }, body, idempotentRequest }) => {
        proofs.checkEnabled();
        const found = await getWorkspaceAgent(context, workspace, body.agent_id);
        const { runtime } = context;
        if (found.source !== 'code' || !listCodeAgentIds(runtime).includes(found.id))
          throw new HttpError(
            400,
            `agent_id: only agents that the module of the server exports can be proved; "${found.id}" is not one of them.`,
            {
              details: {
                /**
                 * The agent is a stored definition, or a part of another agent.
                 * @remedy Export the agent from the module that is served, as what `agent({ … })` returns.
                 */
                error_code: 'agent_not_provable',
              },
            },
          );
        const bounds = toBounds(body.bounds);
        const properties = parseProperties(
          await runtime.loadAgent(found.id),
          body.properties,
          bounds,
        );
        const id = await idempotentRequest.reserveId(context.newId('proof'));
        const agentName = found.description.name;
        return proofs.start(workspace, { id, agentId: found.id, agentName, properties, bounds });
      },
    }),
    defineRoute('GET /v1/proofs: List proofs, newest first', {
      response: proofPage,
      query: v.object({ ...pagination, agent_id: v.optional(nonEmptyText(256)) }),
      run: async ({ caller: { workspace }, query: { agent_id: agentId, ...query } }) => {
        const page = await proofs.list(workspace, query, agentId);
        return { data: page.data, next_page: page.next };
      },
    }),
    defineRoute('GET /v1/proofs/{proof_id}: Read a proof', {
      response: proofResponse,
      run: async ({ caller: { workspace }, params }) => proofs.get(workspace, params('proof_id')),
    }),
    defineRoute('GET /v1/proofs/{proof_id}/stream: A proof while it runs', {
      response: proofChange,
      streams: true,
      run: async ({ caller: { workspace }, params, request, isKeyValid, destroyConnection }) => {
        const id = params('proof_id');
        await proofs.get(workspace, id);
        const { closing, clock, keepAliveMs, readerTimeoutMs } = context;
        return frameStream({
          frames: async function* (signal) {
            for await (const change of proofs.changes(workspace, id, signal)) yield frame(change);
          },
          signals: [request.signal, closing],
          isAllowed: isKeyValid,
          clock,
          keepAliveMs,
          readerTimeoutMs,
          destroyConnection,
        });
      },
    }),
    defineRoute('DELETE /v1/proofs/{proof_id}: Cancel a proof', {
      response: proofResponse,
      scopes: SESSION_WRITE_SCOPES,
      run: async ({ caller: { workspace }, params }) =>
        proofs.cancel(workspace, params('proof_id')),
    }),
  ];
}

function toBounds(bounds: v.InferOutput<typeof proofParams>['bounds']): Wire<'ProofBounds'> {
  const given = Object.entries(bounds ?? {}).filter(([, value]) => value != null);
  return { ...DEFAULT_BOUNDS, ...Object.fromEntries(given) };
}

/**
 * Parses properties before a process is started for them.
 * @throws InvalidInputError for `properties[…]`
 */
function parseProperties(
  agent: Agent,
  texts: readonly string[] | null | undefined,
  { messages, at_once: atOnce, faults, shutdowns, states }: Wire<'ProofBounds'>,
): readonly { readonly name: string; readonly text: string }[] {
  const limits: AgentProofLimits = { messages, atOnce, faults, shutdowns, states };
  const known: Readonly<Record<string, Property>> = agentProof(agent, limits).properties;
  if (texts == null) return Object.entries(known).map(([text, { name }]) => ({ name, text }));
  return texts.map((text, index) => {
    try {
      const property = readOwn(known, text);
      if (property !== undefined) return { name: property.name, text };
      const parsed = parseProperty(text);
      checkNames(agent.compiled, [parsed]);
      return { name: parsed.name, text };
    } catch (error) {
      if (
        error instanceof PropertySyntaxError ||
        error instanceof InvalidPropertyError ||
        error instanceof UnknownNameError
      )
        throw new InvalidInputError(
          `properties[${index}]`,
          `is no property of this agent: ${error.message} The default properties are ${Object.keys(known).join(', ')}.`,
          { cause: error },
        );
      throw error;
    }
  });
}
