import { PetrichorError } from '../../core/index.ts';

/**
 * A tool or an instruction uses artifacts or memory, and the runtime has no service for them.
 * @remedy Pass `{ artifacts }` or `{ memory }` to `openRuntime`.
 */
export class NoServiceError extends PetrichorError {
  override readonly code = 'no_service' as const;
  readonly service: 'artifacts' | 'memory';

  constructor(service: 'artifacts' | 'memory') {
    super(`This runtime has no ${service} service: pass { ${service} } to openRuntime.`);
    this.service = service;
  }
}
