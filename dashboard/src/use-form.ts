/**
 * A form with errors at its fields: those that the page finds, then that of the service. The error of the service is
 * shown once: at the field that it names, or at the end of the form if the form does not show that field.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from './api.ts';
import type { FieldErrors } from './model/field-errors.ts';
import { useRequest } from './use-request.ts';

export interface FormState<F> {
  readonly form: F;
  readonly change: (form: F) => void;
  readonly errors: FieldErrors;
  /** The error of the service, if no field shows it. */
  readonly error: ApiError | null;
  readonly isBusy: boolean;
  readonly submit: (event: Event) => void;
  readonly element: { current: HTMLFormElement | null };
}

const NO_ERRORS: FieldErrors = {};

/** `fieldsOf` names the fields of the API that the form shows. */
export function useForm<F>(
  first: F,
  send: (form: F) => Promise<unknown>,
  fieldsOf: (form: F) => readonly string[],
  check: (form: F) => FieldErrors = () => NO_ERRORS,
): FormState<F> {
  const [form, setForm] = useState(first);
  const [invalid, setInvalid] = useState(NO_ERRORS);
  const element = useRef<HTMLFormElement>(null);
  const request = useRequest(() => send(form));
  const refusal = request.error;
  const param = refusal?.param ?? '';
  const isAtField = refusal !== null && fieldsOf(form).includes(param);
  const errors = isAtField ? { [param]: refusal.message } : invalid;
  useEffect(() => {
    if (errors === NO_ERRORS) return;
    const field = element.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    field?.focus();
    // The message is below the field, where the navigation of a phone could hide it.
    field?.scrollIntoView({ block: 'center' });
  }, [invalid, refusal]);
  return {
    form,
    change: (next) => {
      setForm(next);
      setInvalid(NO_ERRORS);
      request.clear();
    },
    errors,
    error: isAtField ? null : refusal,
    isBusy: request.isBusy,
    submit: (event) => {
      event.preventDefault();
      const wrong = check(form);
      setInvalid(wrong);
      if (Object.keys(wrong).length === 0) void request.run();
    },
    element,
  };
}
