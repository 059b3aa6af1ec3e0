/** Model ids that are known not to reason. A deployment may have any name, so what is not known may reason. */
const NON_REASONING = /^(?:ft:)?(?:gpt-3|gpt-4|chatgpt-|davinci|babbage|gpt-\d+(?:\.\d+)?-chat)/;

/** Whether a model of OpenAI surely does not reason, by its id. */
export function isNonReasoningOpenAiModel(modelId: string): boolean {
  return NON_REASONING.test(modelId);
}
