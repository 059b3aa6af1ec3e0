import {
  BaseAgent,
  EXIT_LOOP,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from '@google/adk';

/**
 * A story flow: an outline, a draft, a loop of critic and reviser, and checks of grammar and tone at the same time. If
 * the tone is negative, the story is written again. Rebuilt from the description of the custom agent "StoryFlowAgent"
 * in the documentation of ADK, with the loop of a critic of its page on workflow agents.
 */

/** The test answers for this model. */
const model = 'scripted';

const storyGenerator = new LlmAgent({
  name: 'story_generator',
  model,
  instruction: 'Write a short story about {topic}.',
  outputKey: 'story',
});

const critic = new LlmAgent({
  name: 'critic',
  model,
  instruction: 'Criticize this story: {story}. If it is good, call exit_loop.',
  tools: [EXIT_LOOP],
});

const reviser = new LlmAgent({
  name: 'reviser',
  model,
  instruction: 'Revise this story as the critic says: {story}',
  outputKey: 'story',
});

const grammarCheck = new LlmAgent({
  name: 'grammar_check',
  model,
  includeContents: 'none',
  instruction: 'Check the grammar of: {story}',
  outputKey: 'grammar',
});

const toneCheck = new LlmAgent({
  name: 'tone_check',
  model,
  includeContents: 'none',
  instruction: 'Answer "positive" or "negative" about the tone of: {story}',
  outputKey: 'tone',
});

const criticLoop = new LoopAgent({
  name: 'critic_loop',
  subAgents: [critic, reviser],
  maxIterations: 3,
});

const checks = new SequentialAgent({
  name: 'post_processing',
  subAgents: [new ParallelAgent({ name: 'checks', subAgents: [grammarCheck, toneCheck] })],
});

class StoryFlowAgent extends BaseAgent {
  constructor() {
    super({ name: 'story_flow', subAgents: [storyGenerator, criticLoop, checks] });
  }

  protected override async *runAsyncImpl(
    context: Parameters<BaseAgent['runAsyncImpl']>[0],
  ): ReturnType<BaseAgent['runAsyncImpl']> {
    yield* storyGenerator.runAsync(context);
    yield* criticLoop.runAsync(context);
    yield* checks.runAsync(context);
    if (context.session.state['tone'] === 'negative') yield* storyGenerator.runAsync(context);
  }

  // oxlint-disable-next-line require-yield -- the flow has no live mode
  protected async *runLiveImpl(): ReturnType<BaseAgent['runAsyncImpl']> {
    throw new Error('The flow has no live mode.');
  }
}

export const rootAgent: BaseAgent = new StoryFlowAgent();
