import type { JsonObject } from '../../../core/index.ts';
import type { ManagedAgent } from '../../../managed/index.ts';
import { CLIENT_TOOLS_EXTENSION } from './message-inputs.ts';

export interface AgentCardOptions {
  /** The address of the agent on this server: `https://host/a2a/agent_assistant`. */
  readonly url: string;
  /** Whether callers need a key. */
  readonly needsKey: boolean;
  /** Also lists the tools of the agent. Default: false. */
  readonly isExtended?: boolean;
}

/** The card of an agent, in the JSON form of A2A 1.0. */
export function toAgentCard(
  agent: ManagedAgent,
  { url, needsKey, isExtended = false }: AgentCardOptions,
): JsonObject {
  const { name, description, tools } = describe(agent);
  const skill = { id: agent.id, name, description: description || name, tags: ['agent'] };
  return {
    name,
    description: description || name,
    version: String(agent.version),
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${url}/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
      extensions: [
        {
          uri: CLIENT_TOOLS_EXTENSION,
          description: 'The client offers tools of its own, and answers their calls.',
        },
      ],
    },
    securitySchemes: {
      key: { apiKeySecurityScheme: { location: 'header', name: 'x-api-key' } },
      bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
    },
    ...(needsKey && {
      securityRequirements: [{ schemes: { key: {} } }, { schemes: { bearer: {} } }],
    }),
    defaultInputModes: ['text/plain', 'application/json', 'image/*', 'audio/*', 'application/pdf'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [
      skill,
      ...(isExtended
        ? tools.map((tool) => ({
            id: `${agent.id}.${tool.name}`,
            name: tool.name,
            description: tool.description || tool.name,
            tags: ['tool'],
          }))
        : []),
    ],
  };
}

interface Described {
  readonly name: string;
  readonly description: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
}

function describe(agent: ManagedAgent): Described {
  if (agent.source === 'code') return agent.description;
  const { name, description = '', tools = [] } = agent.definition;
  return {
    name,
    description,
    tools: tools.map((tool) => ({
      name: 'name' in tool ? tool.name : tool.type,
      description: 'description' in tool ? (tool.description ?? '') : '',
    })),
  };
}
