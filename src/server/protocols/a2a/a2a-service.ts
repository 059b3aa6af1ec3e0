import type { JsonObject } from '../../../core/index.ts';
import { notFound } from '../../http/http-error.ts';
import { getWorkspaceAgent } from '../../routes/workspace-agents.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { listPushConfigs, removePushConfig, savePushConfig } from './a2a-push.ts';
import { toAgentCard } from './agent-card.ts';
import { listTasks } from './list-tasks.ts';
import type { ListTasksQuery } from './list-tasks.ts';
import { TaskOperations } from './task-operations.ts';
import type { TaskCaller } from './task-operations.ts';

/** What a caller can do with an agent over A2A, in the JSON form of A2A 1.0. Both transports call it. */
export class A2aService {
  readonly tasks: TaskOperations;
  readonly #context: ServerContext;
  readonly #caller: TaskCaller;
  readonly #url: string;

  /** @param url the address of the agent on this server */
  constructor(context: ServerContext, caller: TaskCaller, url: string) {
    this.#context = context;
    this.#caller = caller;
    this.#url = url;
    this.tasks = new TaskOperations(context, caller);
  }

  /** @throws HttpError 404 for an unknown agent */
  async card({ isExtended = false }: { readonly isExtended?: boolean } = {}): Promise<JsonObject> {
    const { caller, agentId } = this.#caller;
    const agent = await getWorkspaceAgent(this.#context, caller.workspace, agentId);
    return toAgentCard(agent, { url: this.#url, needsKey: caller.scope !== undefined, isExtended });
  }

  async list(query: ListTasksQuery): Promise<JsonObject> {
    return listTasks(this.#context, this.#caller, query);
  }

  async savePush(taskId: string, value: JsonObject): Promise<JsonObject> {
    const { ref: task } = await this.tasks.find(taskId);
    const { caller, version } = this.#caller;
    return savePushConfig(this.#context, caller.workspace, { task, value, version });
  }

  async getPush(taskId: string, configId: string): Promise<JsonObject> {
    const configs = await this.#listConfigs(taskId);
    const found = configs.find(({ id }) => id === configId);
    if (found === undefined) throw notFound('push configuration', configId);
    return found;
  }

  async listPushes(taskId: string): Promise<{ readonly configs: readonly JsonObject[] }> {
    return { configs: [...(await this.#listConfigs(taskId))] };
  }

  /** Removes a configuration. One that does not exist is no error. */
  async removePush(taskId: string, configId: string): Promise<void> {
    const { ref: task } = await this.tasks.find(taskId);
    const { workspace } = this.#caller.caller;
    await removePushConfig(this.#context, workspace, { task, configId });
  }

  async #listConfigs(taskId: string): Promise<readonly JsonObject[]> {
    const { ref } = await this.tasks.find(taskId);
    return listPushConfigs(this.#context, this.#caller.caller.workspace, ref);
  }
}
