def write_report(run, dataset):
    pass
