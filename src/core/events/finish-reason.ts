/** Why a model stopped writing. An answer with calls in it always says `tool_calls`, whatever the provider says. */
export type FinishReason = 'stop' | 'tool_calls' | 'max_tokens' | 'refusal' | 'other';
