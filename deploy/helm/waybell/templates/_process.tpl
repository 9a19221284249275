{{/* Every Deployment by its name: the service that it runs, and all that the values say of it. */}}
{{- define "waybell.deployments" -}}
{{- $all := dict -}}
{{- range $service, $own := .Values.services -}}
{{- $values := include "waybell.merged" (list $.Values.defaults $own) | fromYaml -}}
{{- $_ := set $all $service (dict "service" $service "values" $values) -}}
{{- end -}}
{{- range $group, $own := .Values.deliverers -}}
{{- $values := include "waybell.merged" (list $all.deliverer.values $own) | fromYaml -}}
{{- $_ := set $all (printf "deliverer-%s" $group) (dict "service" "deliverer" "values" $values) -}}
{{- end -}}
{{- toYaml $all -}}
{{- end }}

{{/* The first map with what the second one has: Sprig's own merging takes no 0, false or empty list from it. */}}
{{- define "waybell.merged" -}}
{{- $merged := deepCopy (first .) -}}
{{- range $key, $value := last . -}}
{{- $old := get $merged $key -}}
{{- if and (kindIs "map" $value) (kindIs "map" $old) -}}
{{- $value = include "waybell.merged" (list $old $value) | fromYaml -}}
{{- end -}}
{{- $_ := set $merged $key $value -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end }}

{{/* The settings that a process reads: made from the code. Of: root, process. */}}
{{- define "waybell.reads" -}}
{{- get (.root.Files.Get "files/settings.json" | fromJson) .process | toYaml -}}
{{- end }}

{{/* The process' settings that are files: their names, and where each lies. Of: root, process, values. */}}
{{- define "waybell.files" -}}
{{- $reads := include "waybell.reads" . | fromYamlArray -}}
{{- $name := .values.secret.name | default (printf "%s-%s" (include "waybell.fullname" .root) .process) -}}
{{- $own := dict "secret" $name "keys" .values.secret.keys -}}
{{- $settings := list -}}
{{- $sources := list -}}
{{- range concat (list $own) .values.settingsFrom .root.Values.settingsFrom -}}
{{- $items := list -}}
{{- range $setting, $key := .keys -}}
{{- if and (has $setting $reads) (not (has $setting $settings)) -}}
{{- $items = append $items (dict "key" $key "path" $setting) -}}
{{- $settings = append $settings $setting -}}
{{- end -}}
{{- end -}}
{{- $kind := ternary "secret" "configMap" (hasKey . "secret") -}}
{{- $source := dict "name" (get . $kind) "items" $items -}}
{{- if $items -}}{{- $sources = append $sources (dict $kind $source) -}}{{- end -}}
{{- end -}}
{{- dict "settings" $settings "sources" $sources | toYaml -}}
{{- end }}

{{/* A setting as text. Helm reads numbers as floats, and would write 10000000 as 1e+07. */}}
{{- define "waybell.text" -}}
{{- if kindIs "slice" . -}}{{- join "," . -}}
{{- else if kindIs "float64" . -}}{{- int64 . -}}
{{- else -}}{{- . -}}{{- end -}}
{{- end }}

{{/* The container's environment. Of: root, process, values, and `fixed`: settings that the chart decides. */}}
{{- define "waybell.env" -}}
{{- $reads := include "waybell.reads" . | fromYamlArray -}}
{{- $env := dict -}}
{{- range $name, $value := .root.Values.settings -}}
{{- if has $name $reads -}}{{- $_ := set $env $name $value -}}{{- end -}}
{{- end -}}
{{- range $settings := list .values.settings .fixed -}}
{{- range $name, $value := $settings -}}{{- $_ := set $env $name $value -}}{{- end -}}
{{- end -}}
{{- range $setting := (include "waybell.files" . | fromYaml).settings -}}
{{- if hasKey $env $setting -}}
{{- fail (printf "%s of %s is among `settings`, and in a Secret or ConfigMap too: leave one of them out" $setting $.process) -}}
{{- end -}}
{{- $_ := set $env (printf "%s_FILE" $setting) (printf "/etc/waybell/%s" $setting) -}}
{{- end -}}
{{- range $name, $value := $env }}
- name: {{ $name }}
  value: {{ include "waybell.text" $value | quote }}
{{- end }}
{{- with .values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Seconds from the signal to stop until a Pod is killed: SHUTDOWN_GRACE, 75s unless set, and 5 s at least. Of: as waybell.env. */}}
{{- define "waybell.grace" -}}
{{- $given := .values.terminationGracePeriodSeconds -}}
{{- if and (not $given) (has "SHUTDOWN_GRACE" (include "waybell.files" . | fromYaml).settings) -}}
{{- fail (printf "terminationGracePeriodSeconds of %s: say how many, as SHUTDOWN_GRACE lies in a Secret or ConfigMap" .process) -}}
{{- end -}}
{{- $text := .values.settings.SHUTDOWN_GRACE | default .root.Values.settings.SHUTDOWN_GRACE | default "75s" -}}
{{- $seconds := get (dict "ms" 0.001 "s" 1 "m" 60 "h" 3600 "d" 86400) (regexFind "[a-z]+$" $text) -}}
{{- $least := add 5 (mulf (regexFind "^[0-9.]+" $text) $seconds | ceil | int64) -}}
{{- if and $given (lt (int64 $given) $least) -}}
{{- fail (printf "terminationGracePeriodSeconds of %s: with SHUTDOWN_GRACE %s, %d at least, or none, which is that" .process $text $least) -}}
{{- end -}}
{{- $given | default $least | int64 -}}
{{- end }}

{{/* What the containers of services and jobs have in common. Of: as waybell.env. */}}
{{- define "waybell.container" -}}
image: {{ include "waybell.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
env:
  {{- include "waybell.env" . | trim | nindent 2 }}
resources:
  {{- toYaml .values.resources | nindent 2 }}
securityContext:
  {{- toYaml .root.Values.securityContext | nindent 2 }}
volumeMounts:
  - { name: settings, mountPath: /etc/waybell, readOnly: true }
  {{- with .values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* What their Pods have in common. */}}
{{- define "waybell.pod" -}}
serviceAccountName: {{ include "waybell.fullname" .root }}-{{ .process }}
automountServiceAccountToken: false
# A Service of the namespace that is named `admin` would set ADMIN_PORT.
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .root.Values.podSecurityContext | nindent 2 }}
{{- with .root.Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- range $key := list "nodeSelector" "affinity" "tolerations" }}
{{- with get $.values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
volumes:
  - name: settings
    projected:
      defaultMode: 0440
      sources:
        {{- (include "waybell.files" . | fromYaml).sources | toYaml | nindent 8 }}
  {{- with .values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
