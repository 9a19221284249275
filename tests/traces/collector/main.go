// A collector of OpenTelemetry's own parts for tests: it takes spans by OTLP over HTTP, and appends them to a file, a
// line of OTLP's JSON for each request.
package main

import (
	"context"
	"log"
	"os"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

type toFile struct {
	Path string `mapstructure:"path"`
}

func (config *toFile) create(ctx context.Context, set exporter.Settings) (exporter.Traces, error) {
	file, err := os.OpenFile(config.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	write := func(_ context.Context, traces ptrace.Traces) error {
		line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
		if err != nil {
			return err
		}
		_, err = file.Write(append(line, '\n'))
		return err
	}
	return exporterhelper.NewTraces(ctx, set, config, write)
}

func factories() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	create := func(ctx context.Context, set exporter.Settings, config component.Config) (exporter.Traces, error) {
		return config.(*toFile).create(ctx, set)
	}
	file := exporter.NewFactory(
		component.MustNewType("file"),
		func() component.Config { return &toFile{} },
		exporter.WithTraces(create, component.StabilityLevelStable),
	)
	exporters, err := otelcol.MakeFactoryMap[exporter.Factory](file)
	return otelcol.Factories{
		Receivers: receivers,
		Exporters: exporters,
		Telemetry: otelconftelemetry.NewFactory(),
	}, err
}

func main() {
	providers := []confmap.ProviderFactory{yamlprovider.NewFactory()}
	settings := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Version: "0"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{ProviderFactories: providers, DefaultScheme: "yaml"},
		},
	}
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		log.Fatal(err)
	}
}
