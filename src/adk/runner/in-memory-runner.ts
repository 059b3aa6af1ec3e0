import { omitUndefined } from '../../core/internal.ts';
import { checkOptions } from '../../core/index.ts';
import { InMemoryArtifactService, InMemoryMemoryService } from '../../tools/index.ts';
import { InMemorySessionService } from '../sessions/in-memory-session-service.ts';
import { Runner } from './runner.ts';
import { RUNNER_OPTIONS } from './runner-options.ts';
import type { RunnerOptions } from './runner-options.ts';

/** A runner with in-memory sessions, artifacts and memory, which are lost when it closes. */
export class InMemoryRunner extends Runner {
  readonly artifactService: InMemoryArtifactService;
  readonly memoryService: InMemoryMemoryService;

  /**
   * Default of `appName`: `InMemoryRunner`.
   * @throws InvalidInputError if the options are invalid
   */
  constructor(
    options: Omit<RunnerOptions, 'sessionService' | 'artifactService' | 'memoryService'>,
  ) {
    if (new.target === InMemoryRunner) checkOptions(RUNNER_OPTIONS, options);
    const { clock, app, appName = 'InMemoryRunner' } = options;
    const artifactService = new InMemoryArtifactService();
    const memoryService = new InMemoryMemoryService();
    super({
      ...options,
      ...omitUndefined({ appName: app === undefined ? appName : undefined }),
      sessionService: new InMemorySessionService(clock === undefined ? {} : { clock }),
      artifactService,
      memoryService,
    });
    this.artifactService = artifactService;
    this.memoryService = memoryService;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.sessionService.close();
  }
}
