import type { z } from 'zod';
import type { Content, Json, JsonObject } from '../../../src/core/index.ts';
import type { Script } from './script.ts';

/** An agent, a tool or a plugin of one of the two packages. Programs only pass it on. */
export type Ref = object;

/** What a callback or tool of a program can do in both packages. */
export interface View {
  readonly get: (key: string) => unknown;
  readonly set: (key: string, value: Json) => void;
}

/** The context of a callback around an agent. */
export interface AgentView extends View {
  readonly escalate: () => void;
}

/** The context of a tool. */
export interface ToolView extends AgentView {
  readonly transfer: (agentName: string) => void;
  readonly skipSummarization: () => void;
  /** Asks for a confirmation. The tool returns the result. */
  readonly confirm: (hint: string) => unknown;
  /** The answer to the confirmation, when the tool runs again. */
  readonly confirmed: boolean | undefined;
  /** Asks for an API key. The tool returns the result. */
  readonly askCredential: (name: string) => unknown;
  /** The credential that the client sent, when the tool runs again. */
  readonly credential: (name: string) => Promise<unknown>;
  readonly saveText: (name: string, text: string) => Promise<number>;
  readonly loadText: (name: string) => Promise<string | undefined>;
}

/** The members of both packages' requests that a callback of a program reads. */
export interface RequestView {
  readonly contents: number;
}

/** Text that a callback returns in place of an answer. */
export type CallbackText = string | undefined;

/** The callbacks of an agent or of a plugin. */
export interface CallbackSpec {
  readonly beforeAgent?: (view: AgentView) => CallbackText;
  readonly afterAgent?: (view: AgentView) => CallbackText;
  readonly beforeModel?: (view: View, request: RequestView) => CallbackText;
  readonly afterModel?: (view: View, text: string) => CallbackText;
  readonly beforeTool?: (view: View, args: JsonObject, toolName: string) => JsonObject | undefined;
  readonly afterTool?: (view: View, response: JsonObject) => JsonObject | undefined;
}

/** An agent with a model. */
export interface LlmSpec extends CallbackSpec {
  readonly name: string;
  readonly script: Script;
  readonly description?: string;
  readonly instruction?: string | ((view: Pick<View, 'get'>) => string);
  readonly globalInstruction?: string;
  readonly tools?: readonly Ref[];
  readonly subAgents?: readonly Ref[];
  readonly outputKey?: string;
  readonly outputSchema?: z.ZodObject;
  readonly inputSchema?: z.ZodObject;
  readonly includeContents?: 'none';
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly disallowTransferToParent?: true;
  readonly disallowTransferToPeers?: true;
}

/** An agent that runs others. */
export interface CompositeSpec extends Pick<CallbackSpec, 'beforeAgent' | 'afterAgent'> {
  readonly name: string;
  readonly description?: string;
  readonly subAgents: readonly Ref[];
}

/** A function tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters?: z.ZodObject;
  readonly requireConfirmation?: true | ((args: JsonObject) => boolean | Promise<boolean>);
  readonly execute: (args: JsonObject, view: ToolView) => unknown;
}

/** What a custom agent yields: a message, a state change, or an escalation. */
export interface CustomYield {
  readonly text?: string;
  readonly state?: JsonObject;
  readonly escalate?: true;
}

/** A node of a workflow: a function of its input, or an agent. */
export type NodeSpec = {
  readonly name: string;
  readonly run: (input: unknown, view: View) => unknown;
};

/** The name of a tool that both packages export. */
export type ShippedTool = 'EXIT_LOOP' | 'LOAD_ARTIFACTS' | 'LOAD_MEMORY' | 'PRELOAD_MEMORY';

/** A message of a user, and how the model answers it. */
export interface ExampleSpec {
  readonly input: Content;
  readonly output: readonly Content[];
}

/** What both packages can build. */
export interface Kit {
  readonly llm: (spec: LlmSpec) => Ref;
  readonly sequential: (spec: CompositeSpec) => Ref;
  readonly parallel: (spec: CompositeSpec) => Ref;
  readonly loop: (spec: CompositeSpec & { readonly maxIterations?: number }) => Ref;
  readonly custom: (spec: {
    readonly name: string;
    readonly subAgents?: readonly Ref[];
    /** Yields, and names of sub-agents to run. */
    readonly run: (view: Pick<View, 'get'>) => readonly (CustomYield | string)[];
  }) => Ref;
  readonly tool: (spec: ToolSpec) => Ref;
  readonly longRunningTool: (spec: ToolSpec) => Ref;
  /** A tool that both packages export under this name. */
  readonly shippedTool: (name: ShippedTool) => Ref;
  readonly exampleTool: (examples: readonly ExampleSpec[]) => Ref;
  readonly agentTool: (agent: Ref, options?: { readonly skipSummarization: true }) => Ref;
  readonly plugin: (spec: CallbackSpec & { readonly name: string }) => Ref;
  readonly globalInstructionPlugin: (instruction: string) => Ref;
  /** A chain of nodes, from the start. */
  readonly workflow: (name: string, chain: readonly (NodeSpec | Ref)[]) => Ref;
}

/** A message of the user: text, or the answer to a call that waits. */
export type Turn =
  | string
  | { readonly confirm: string; readonly confirmed: boolean }
  | { readonly authorize: string; readonly credential: JsonObject }
  | { readonly answer: string; readonly response: JsonObject };

/** The function response of a turn that answers a call. */
export function toTurnResponse(turn: Exclude<Turn, string>): JsonObject {
  if ('confirm' in turn) return { confirmed: turn.confirmed };
  if ('authorize' in turn)
    return { ...apiKeyAuth(turn.authorize), exchangedAuthCredential: turn.credential };
  return turn.response;
}

/** The authentication that programs ask for. */
export function apiKeyAuth(name: string): {
  readonly authScheme: { readonly type: 'apiKey'; readonly in: 'header'; readonly name: string };
  readonly credentialKey: string;
} {
  return { authScheme: { type: 'apiKey', in: 'header', name: 'x-key' }, credentialKey: name };
}

/** When a conversation is summarized, and the summary. */
export interface CompactionSpec {
  /** Summarize if the messages have more tokens than this. */
  readonly tokenThreshold: number;
  readonly summary: string;
  /** The turn, from 1, before which the summary is made. */
  readonly beforeTurn: number;
}

/** What an earlier session of the user said. */
export interface MemorySpec {
  readonly author: string;
  readonly text: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A program that runs on both packages. */
export interface Program {
  readonly name: string;
  readonly area: string;
  readonly root: (kit: Kit) => Ref;
  readonly plugins?: (kit: Kit) => readonly Ref[];
  readonly turns: readonly Turn[];
  readonly state?: JsonObject;
  /** In `@google/adk`, of the agents of the program. */
  readonly compaction?: CompactionSpec;
  readonly memories?: readonly MemorySpec[];
  readonly streaming?: true;
  /** Agents run at the same time, so that their events may come in any order. */
  readonly concurrent?: true;
}

/** A model request in one package's own form. */
export interface RecordedRequest {
  readonly agentName: string;
  readonly systemInstruction: string;
  readonly contents: readonly unknown[];
  readonly tools: readonly unknown[];
  readonly config: object;
}

/** The outcome of a program on one package, in the package's own form. */
export interface RawRun {
  readonly requests: readonly RecordedRequest[];
  /** The events of each turn, as `runAsync` yielded them. */
  readonly turns: readonly (readonly object[])[];
  /** The error with which a turn ended. */
  readonly errors: readonly string[];
  readonly state: Readonly<Record<string, unknown>>;
}
