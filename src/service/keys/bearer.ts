/** The token of an `Authorization: Bearer <token>` field; null when the field is absent, empty or of another scheme. */
export function bearerToken(authorization: string | undefined): string | null {
  return authorization?.match(/^bearer +(\S.*)$/i)?.[1]?.trim() ?? null;
}
