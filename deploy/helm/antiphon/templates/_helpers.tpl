{{- define "antiphon.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "antiphon.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "antiphon.labels" -}}
{{ include "antiphon.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "antiphon.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "antiphon.name" .) }}
{{- end -}}

{{- /* A variable from a secret: [name, the values that name the secret and its key]. */ -}}
{{- define "antiphon.fromSecret" -}}
{{- $name := index . 0 -}}
{{- $from := index . 1 -}}
{{- if $from.existingSecret }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $from.existingSecret }}
      key: {{ $from.key }}
{{- end }}
{{- end -}}

{{- /* A variable with a value, if there is one: [name, value]. */ -}}
{{- define "antiphon.variable" -}}
{{- if index . 1 }}
- name: {{ index . 0 }}
  value: {{ index . 1 | quote }}
{{- end }}
{{- end -}}

{{- define "antiphon.env" -}}
{{- $store := .Values.store -}}
{{- $_ := required "store.existingSecret is required: a secret with the URL of the database" $store.existingSecret -}}
{{- include "antiphon.fromSecret" (list "ANTIPHON_STORE" .Values.store) }}
{{- include "antiphon.fromSecret" (list "ANTIPHON_SECRET" .Values.encryption) }}
{{- include "antiphon.fromSecret" (list "ANTIPHON_API_KEY" .Values.callers) }}
{{- include "antiphon.variable" (list "ANTIPHON_TENANT_HEADER" .Values.callers.tenantHeader) }}
{{- if .Values.upstream.url }}
{{- include "antiphon.variable" (list "ANTIPHON_UPSTREAM" .Values.upstream.url) }}
{{- include "antiphon.variable" (list "ANTIPHON_UPSTREAM_API" .Values.upstream.api) }}
{{- include "antiphon.variable" (list "ANTIPHON_STATE" .Values.upstream.state) }}
{{- include "antiphon.fromSecret" (list "ANTIPHON_UPSTREAM_KEY" .Values.upstream) }}
{{- end }}
{{- if .Values.settings }}
{{- include "antiphon.variable" (list "ANTIPHON_CONFIG" "/etc/antiphon/antiphon.toml") }}
{{- end }}
{{- if .Values.metrics.enabled }}
{{- include "antiphon.variable" (list "ANTIPHON_METRICS_LISTEN" (printf "0.0.0.0:%d" (int .Values.metrics.port))) }}
{{- end }}
{{- include "antiphon.variable" (list "OTEL_EXPORTER_OTLP_ENDPOINT" .Values.otlp.endpoint) }}
- name: ANTIPHON_SHUTDOWN_GRACE
  value: {{ .Values.shutdownGrace | quote }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}
