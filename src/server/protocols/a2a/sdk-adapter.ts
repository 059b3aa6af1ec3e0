import type {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { JsonObject } from '../../../core/index.ts';
import type { IdentifiedFrame } from '../run-response.ts';
import type { A2aSdk } from './a2a-sdk.ts';
import type { ErrorTranslator } from './error-translator.ts';
import type { A2aService } from './a2a-service.ts';

/**
 * The service of one agent, for one call, as the transports of the SDK want it: with the SDK's types and errors. The
 * transports of 1.0 and of 0.3 share it.
 */
export class SdkAdapter implements A2ARequestHandler {
  readonly #sdk: A2aSdk;
  readonly #service: A2aService;
  readonly #lastEventId: string | null;
  readonly #errors: ErrorTranslator;
  /** The id of the last response of a stream. */
  frameId = '';

  constructor(
    sdk: A2aSdk,
    service: A2aService,
    {
      lastEventId,
      errors,
    }: { readonly lastEventId: string | null; readonly errors: ErrorTranslator },
  ) {
    this.#sdk = sdk;
    this.#service = service;
    this.#lastEventId = lastEventId;
    this.#errors = errors;
  }

  async getAgentCard(): Promise<AgentCard> {
    return this.#errors.translate(async () =>
      this.#sdk.core.AgentCard.fromJSON(await this.#service.card()),
    );
  }

  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return this.#errors.translate(async () =>
      this.#sdk.core.AgentCard.fromJSON(await this.#service.card({ isExtended: true })),
    );
  }

  async sendMessage(params: SendMessageRequest): Promise<Task> {
    const { SendMessageRequest: request } = this.#sdk.core;
    return this.#toTask(async () => this.#service.tasks.send(toJson(request.toJSON(params))));
  }

  sendMessageStream(params: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const request = toJson(this.#sdk.core.SendMessageRequest.toJSON(params));
    return this.#toResponses(this.#service.tasks.stream(request, this.#lastEventId));
  }

  async getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return this.#toTask(async () => this.#service.tasks.get(id, { historyLength }));
  }

  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return this.#toTask(async () => this.#service.tasks.cancel(id));
  }

  resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#toResponses(this.#service.tasks.subscribe(id, this.#lastEventId));
  }

  async listTasks(params: ListTasksRequest): Promise<ListTasksResponse> {
    const { ListTasksRequest: request, ListTasksResponse: response } = this.#sdk.core;
    return this.#errors.translate(async () =>
      response.fromJSON(await this.#service.list(toJson(request.toJSON(params)))),
    );
  }

  async createTaskPushNotificationConfig(
    params: TaskPushNotificationConfig,
  ): Promise<TaskPushNotificationConfig> {
    const { TaskPushNotificationConfig: config } = this.#sdk.core;
    return this.#errors.translate(async () =>
      config.fromJSON(await this.#service.savePush(params.taskId, toJson(config.toJSON(params)))),
    );
  }

  async getTaskPushNotificationConfig({
    taskId,
    id,
  }: GetTaskPushNotificationConfigRequest): Promise<TaskPushNotificationConfig> {
    return this.#errors.translate(async () =>
      this.#sdk.core.TaskPushNotificationConfig.fromJSON(await this.#service.getPush(taskId, id)),
    );
  }

  async listTaskPushNotificationConfigs({
    taskId,
  }: ListTaskPushNotificationConfigsRequest): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#errors.translate(async () =>
      this.#sdk.core.ListTaskPushNotificationConfigsResponse.fromJSON(
        await this.#service.listPushes(taskId),
      ),
    );
  }

  async deleteTaskPushNotificationConfig({
    taskId,
    id,
  }: DeleteTaskPushNotificationConfigRequest): Promise<void> {
    await this.#errors.translate(async () => this.#service.removePush(taskId, id));
  }

  async #toTask(read: () => Promise<JsonObject>): Promise<Task> {
    return this.#errors.translate(async () => this.#sdk.core.Task.fromJSON(await read()));
  }

  async *#toResponses(
    frames: AsyncGenerator<IdentifiedFrame<JsonObject>, void, undefined>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      for (;;) {
        const next = await this.#errors.translate(async () => frames.next());
        if (next.done === true) return;
        this.frameId = next.value.id;
        yield this.#sdk.core.StreamResponse.fromJSON(next.value.frame);
      }
    } finally {
      await frames.return();
    }
  }
}

function toJson(encoded: unknown): JsonObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what toJSON of a message returns
  return encoded as JsonObject;
}
