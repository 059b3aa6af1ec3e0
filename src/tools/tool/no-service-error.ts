import { PetrichorError } from '../../core/index.ts';

/** Thrown when a tool uses artifacts or memory and the runtime has no service for them. */
export class NoServiceError extends PetrichorError {
  override readonly code = 'no_service' as const;
  readonly service: 'artifacts' | 'memory';

  constructor(service: 'artifacts' | 'memory') {
    super(`This runtime has no ${service} service: pass { ${service} } to openRuntime.`);
    this.service = service;
  }
}
