import * as z from 'zod';
import { tool } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';

/** A tool that runs until its result is given, or until it is stopped. */
export class HeldTool {
  readonly tool: Tool;
  began = 0;
  stopped = 0;
  #give: () => void = () => {};

  constructor(name: string, needsApproval = false) {
    this.tool = tool({
      name,
      description: 'Runs until it may end.',
      parameters: z.object({}),
      onCrash: 'rerun',
      needsApproval,
      execute: async (_args, { signal }) => {
        this.began++;
        signal.addEventListener('abort', () => this.stopped++);
        await new Promise<void>((resolve) => (this.#give = resolve));
        return { name };
      },
    });
  }

  give(): void {
    this.#give();
  }
}
