import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { isJsonObject } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { packageFile } from '../../../core/internal.ts';
import type { AgentDescription } from '../../../agents/index.ts';
import type { HttpError } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { booleanParameter } from '../../wire/wire-schemas.ts';
import type { Protocol } from '../protocol.ts';
import { findApp, listApps, loadAppAgent } from './adk-app.ts';
import { adkSessionRoutes } from './session-routes.ts';
import { adkRunRoutes } from './run-routes.ts';
import { runLiveRoute } from './run-live-route.ts';
import { artifactRoutes } from './artifact-routes.ts';
import { devRoutes } from './dev-routes.ts';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');

/** ADK's HTTP API: an app is an agent, and a session is a session. */
export const adkProtocol: Protocol = {
  name: 'adk',
  toErrorBody: ({ message }: HttpError): JsonObject => ({ detail: message, error: message }),
  sockets: (context, live) => [runLiveRoute(context, live)],
  routes: (context) => [
    ...appRoutes(context),
    ...adkSessionRoutes(context),
    ...artifactRoutes(context),
    ...adkRunRoutes(context),
    ...devRoutes(context),
  ],
};

function appRoutes(context: ServerContext): readonly HttpRoute[] {
  return [
    defineRoute('GET /version: The version of the server (ADK)', {
      response: v.looseObject({ version: v.string() }),
      run: async () => ({ version: readVersion(), language: 'typescript' }),
    }),
    defineRoute('GET /list-apps: List the apps (ADK)', {
      query: v.looseObject({ detailed: v.optional(booleanParameter) }),
      response: v.unknown(),
      run: async ({ caller, query }) => {
        const apps = await listApps(context, caller.workspace);
        if (query.detailed !== true) return Response.json(apps.map(({ name }) => name));
        const detailed = [];
        for (const app of apps) {
          const { description } = await loadAppAgent(context, app);
          detailed.push({
            name: app.name,
            rootAgentName: description.name,
            description: description.description,
            language: 'typescript',
            isComputerUse: false,
          });
        }
        return Response.json({ apps: detailed });
      },
    }),
    defineRoute('GET /apps/{app}/app-info: Describe the agents of an app (ADK)', {
      response: anyObject,
      run: async ({ caller, params }) => {
        const app = await findApp(context, caller.workspace, params('app'));
        const { description } = await loadAppAgent(context, app);
        const all = listAgents(description);
        return {
          name: app.name,
          rootAgentName: description.name,
          description: description.description,
          language: 'typescript',
          agents: Object.fromEntries(all.map((agent) => [agent.name, toAgentInfo(agent)])),
        };
      },
    }),
  ];
}

function listAgents(agent: AgentDescription): readonly AgentDescription[] {
  return [agent, ...agent.subAgents.flatMap(listAgents)];
}

function toAgentInfo(agent: AgentDescription): JsonObject {
  const { name, description, instruction, tools, subAgents } = agent;
  const functionDeclarations = tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parametersJsonSchema: tool.parameters,
  }));
  return {
    name,
    description,
    instruction: instruction ?? '',
    tools: functionDeclarations.length === 0 ? [] : [{ functionDeclarations }],
    subAgents: subAgents.map((one) => one.name),
  };
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  const version = isJsonObject(manifest) ? manifest['version'] : undefined;
  return typeof version === 'string' ? version : '';
}
